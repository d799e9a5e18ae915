"""The budgets of a dataset, as a chart and its table take them."""

from dataclasses import dataclass

from penstock.services.views import DatasetBudgetView
from penstock.web.charts import stacked
from penstock.web.pictures import Picture, picture


@dataclass(frozen=True)
class Shown:
    """A dataset's budget, and the picture of it."""

    budget: DatasetBudgetView
    picture: Picture


def shown(budget: DatasetBudgetView, place: int) -> Shown:
    """The bars of one dataset, the ``place``-th of its page."""
    tiers = tuple(
        stacked.TierBudget(
            tier.tier,
            tier.granted.epsilon,
            tuple(stacked.Part(one.query, one.share) for one in tier.queries),
        )
        for tier in budget.tiers
    )
    content = stacked.Budgets(f"Budgets of {budget.dataset}", tiers)
    return Shown(budget, picture(stacked.budget_bars, stacked.rows, content, f"spent{place}"))
