"""The budgets of a dataset, as a chart and its table take them."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.services.previews.level_preview import MovedLevelsView
from penstock.services.schemas.views import DatasetBudgetView
from penstock.web.charts import stacked
from penstock.web.presenters.figure import Picture, picture


@dataclass(frozen=True)
class Shown:
    """A dataset's budget, and the picture of it."""

    budget: DatasetBudgetView
    picture: Picture


def shown(budget: DatasetBudgetView, place: int) -> Shown:
    """The bars of one dataset, the ``place``-th of its page."""
    content = stacked.Budgets(f"Budgets of {budget.dataset}", _tiers(budget, {}))
    return Shown(budget, picture(stacked.budget_bars, stacked.rows, content, f"spent{place}"))


def with_one_more(budget: DatasetBudgetView, name: str, shares: Mapping[str, float]) -> Picture:
    """The bars as they would be with one more, which takes these ``shares`` by tier."""
    more = {tier: stacked.Part(name, share) for tier, share in shares.items()}
    title = f"Budgets of {budget.dataset} with {name}"
    content = stacked.Budgets(title, _tiers(budget, more))
    return picture(stacked.budget_bars, stacked.rows, content, "planned")


def moved(budget: DatasetBudgetView, moved_levels: MovedLevelsView) -> Picture:
    """The bars as they would be with what other levels of a query cost."""
    name = f"{moved_levels.query}, moved"
    more = {
        tier.tier: stacked.Part(name, tier.charge.share)
        for tier in moved_levels.tiers
        if tier.charge
    }
    content = stacked.Budgets(f"Budgets of {budget.dataset} then", _tiers(budget, more))
    return picture(stacked.budget_bars, stacked.rows, content, "moved")


def _tiers(
    budget: DatasetBudgetView, more: Mapping[str, stacked.Part]
) -> tuple[stacked.TierBudget, ...]:
    return tuple(
        stacked.TierBudget(
            tier.tier,
            tier.granted.epsilon,
            (
                *(stacked.Part(query.query, query.share) for query in tier.queries),
                *((more[tier.tier],) if tier.tier in more else ()),
            ),
        )
        for tier in budget.tiers
    )
