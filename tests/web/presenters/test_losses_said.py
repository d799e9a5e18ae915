"""Privacy losses as pages say and draw them, without a page around them."""

import pytest

from penstock.services.schemas.exposure import ExposureView, ReachView
from penstock.services.schemas.views import PrivacyBudget
from penstock.web.charts.losses import INDEPENDENT, TOGETHER
from penstock.web.presenters import exposure_charts
from penstock.web.presenters.template_filters import loss


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (PrivacyBudget(0.5, 1e-6), "epsilon 0.5 at delta 1e-6"),
        (PrivacyBudget(2.0, 0.0), "epsilon 2"),
    ],
)
def test_a_loss_is_said_with_the_delta_that_it_is_at(budget: PrivacyBudget, said: str) -> None:
    assert loss(budget) == said


def test_each_loss_of_some_people_stands_under_its_name() -> None:
    found = ExposureView(
        users=["ann", "ian"],
        queries=[],
        released=PrivacyBudget(1.0, 1e-6),
        could_be=PrivacyBudget(2.0, 1e-6),
        independent=PrivacyBudget(3.0, 1e-6),
        reach=ReachView("internal", 4.0, 1e-6),
        registrars=None,
    )
    assert {row[0]: row[1] for row in exposure_charts.total(found).table.rows} == {
        TOGETHER: "ε 1",
        INDEPENDENT: "ε 3",
        exposure_charts.REACHABLE: "ε 2",
        exposure_charts.GRANTED: "ε 4",
    }
