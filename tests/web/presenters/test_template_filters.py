"""Numbers, times and losses as pages write them."""

import pytest

from penstock.services.schemas.views import PrivacyBudget
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
