"""Present the budgets of a dataset, and its allowances, as charts with their tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.services.previews.level_preview import MovedLevelsView
from penstock.services.schemas.datasets import AllowanceView, DatasetBudgetView, TierBudgetView
from penstock.web.charts import stacked
from penstock.web.presenters.figure import Picture, picture

EARLIER = "spent before it was made smaller"
"""Name of the piece that fills an allowance of which more is spent than there is."""


@dataclass(frozen=True)
class BudgetChart:
    """Hold the budget of a dataset and its picture, and the allowances in it with theirs."""

    budget: DatasetBudgetView
    picture: Picture
    allowances: Sequence[AllowanceView] = ()
    allowed: Picture | None = None


def shown(budget: DatasetBudgetView, place: int) -> BudgetChart:
    """Return the bars of a dataset; ``place`` is its number on the page, for ids."""
    content = stacked.Budgets(f"Budgets of {budget.dataset}", _tiers(budget, {}))
    bars = picture(stacked.budget_bars, stacked.rows, content, f"spent{place}")
    views = [tier.allowance for tier in budget.tiers if tier.allowance is not None]
    return BudgetChart(
        budget, bars, views, allowed(budget.dataset, views, f"allowed{place}") if views else None
    )


def allowed(dataset: str, views: Sequence[AllowanceView], prefix: str) -> Picture:
    """Return the bars of allowances, the least trusted tier first; ids begin with ``prefix``."""
    tiers = tuple(stacked.TierBudget(view.tier, view.epsilon, _parts(view)) for view in views)
    content = stacked.Budgets(f"Allowances in {dataset}", tiers, "allowance")
    return picture(stacked.budget_bars, stacked.rows, content, prefix)


def with_query(budget: DatasetBudgetView, name: str, shares: Mapping[str, float]) -> Picture:
    """Return the bars with a query added that takes ``shares`` of the tiers' budgets."""
    more = {tier: stacked.Part(name, share) for tier, share in shares.items()}
    title = f"Budgets of {budget.dataset} with {name}"
    content = stacked.Budgets(title, _tiers(budget, more), named=(name,))
    return picture(stacked.budget_bars, stacked.rows, content, "with-query")


def moved(budget: DatasetBudgetView, moved_levels: MovedLevelsView) -> Picture:
    """Return the bars with the charges of moved levels added."""
    name = f"{moved_levels.query}, change of levels"
    more = {
        tier.tier: stacked.Part(name, tier.charge.share)
        for tier in moved_levels.tiers
        if tier.charge
    }
    title = f"Budgets of {budget.dataset} after the change"
    content = stacked.Budgets(title, _tiers(budget, more), named=(name,))
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
            _rest(tier),
        )
        for tier in budget.tiers
    )


def _rest(tier: TierBudgetView) -> float:
    """Return the share that was spent on what the reader does not see, up to rounding."""
    rest = tier.spent_share - sum(query.share for query in tier.queries)
    return rest if rest > stacked.SLACK else 0.0


def _parts(view: AllowanceView) -> tuple[stacked.Part, ...]:
    if view.spent_share > 1:
        return (stacked.Part(EARLIER, 1.0),)
    return tuple(stacked.Part(query.query, query.share) for query in view.queries)
