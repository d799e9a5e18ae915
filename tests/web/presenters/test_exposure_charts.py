"""Test exposures as charts and tables."""

from penstock.services.schemas.exposure import ExposureView, ReachView
from penstock.services.schemas.views import PrivacyBudget
from penstock.web.charts.losses import INDEPENDENT, TOGETHER
from penstock.web.presenters import exposure_charts


def test_each_loss_of_some_people_stands_under_its_name() -> None:
    view = ExposureView(
        users=["ann", "ian"],
        queries=[],
        released=PrivacyBudget(1.0, 1e-6),
        could_be=PrivacyBudget(2.0, 1e-6),
        independent=PrivacyBudget(3.0, 1e-6),
        reach=ReachView("internal", 4.0, 1e-6),
        registrars=None,
    )
    assert {row[0]: row[1] for row in exposure_charts.total(view).table.rows} == {
        TOGETHER: "ε 1",
        INDEPENDENT: "ε 3",
        exposure_charts.REACHABLE: "ε 2",
        exposure_charts.GRANTED: "ε 4",
    }
