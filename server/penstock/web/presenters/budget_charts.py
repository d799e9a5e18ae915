"""Present the budgets of a dataset as a chart with its table."""

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.services.previews.level_preview import MovedLevelsView
from penstock.services.schemas.datasets import DatasetBudgetView
from penstock.web.charts import stacked
from penstock.web.presenters.figure import Picture, picture


@dataclass(frozen=True)
class BudgetChart:
    """Hold the budget of a dataset and its picture."""

    budget: DatasetBudgetView
    picture: Picture


def shown(budget: DatasetBudgetView, place: int) -> BudgetChart:
    """Return the bars of a dataset; ``place`` is its number on the page, for ids."""
    content = stacked.Budgets(f"Budgets of {budget.dataset}", _tiers(budget, {}))
    return BudgetChart(budget, picture(stacked.budget_bars, stacked.rows, content, f"spent{place}"))


def with_query(budget: DatasetBudgetView, name: str, shares: Mapping[str, float]) -> Picture:
    """Return the bars with a query added that takes ``shares`` of the tiers' budgets."""
    more = {tier: stacked.Part(name, share) for tier, share in shares.items()}
    title = f"Budgets of {budget.dataset} with {name}"
    content = stacked.Budgets(title, _tiers(budget, more))
    return picture(stacked.budget_bars, stacked.rows, content, "with-query")


def moved(budget: DatasetBudgetView, moved_levels: MovedLevelsView) -> Picture:
    """Return the bars with the charges of moved levels added."""
    name = f"{moved_levels.query}, change of levels"
    more = {
        tier.tier: stacked.Part(name, tier.charge.share)
        for tier in moved_levels.tiers
        if tier.charge
    }
    content = stacked.Budgets(f"Budgets of {budget.dataset} after the change", _tiers(budget, more))
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
