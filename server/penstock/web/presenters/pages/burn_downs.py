"""Turn what was left of budgets over time into a chart under the sentence that it shows."""

from datetime import datetime, timedelta

from penstock.services.overviews.burn_downs import BurnDownView, TierCourseView
from penstock.web.charts.drawing.numbers import counted, share
from penstock.web.charts.drawing.svg import isolated, words
from penstock.web.charts.spent import burn_down
from penstock.web.presenters.figure import Picture, picture

DAYS = 14
WEEKS = 26
"""How many of these a time has before the next larger unit is used."""

REMARK = "As the accountant counts it, of the budget that was in force at each time."


def burned(view: BurnDownView, place: int) -> Picture | None:
    """Return the chart of a dataset, or None without a budget; ``place`` is its number, for ids."""
    if not view.tiers:
        return None
    tiers = tuple(burn_down.Left(tier.tier, tuple(tier.shares)) for tier in view.tiers)
    title = f"What was left of the budgets of {view.dataset}"
    content = burn_down.BurnDown(title, tuple(view.times), tiers)
    drawn = burn_down.burn_down
    return picture(drawn, burn_down.rows, content, f"course{place}", REMARK, message(view))


def message(view: BurnDownView) -> str:
    """Return when the first budget ends, if the last 30 days show a pace, or what is left.

    Raises ``ValueError`` without a tier.
    """
    ending = [(tier.ends_in, tier) for tier in view.tiers if tier.ends_in is not None]
    whose = isolated(view.dataset)
    if ending:
        span, first = min(ending, key=lambda pair: pair[0])
        return words(
            f"At the pace of the last 30 days the {isolated(first.tier)} budget of {whose} ends in"
            f" {about(span)}"
        )
    least = min(view.tiers, key=_left)
    since = _since(least, view.times[-1])
    return words(
        f"{share(_left(least))} of the {isolated(least.tier)} budget of {whose} is left{since}"
    )


def about(span: timedelta) -> str:
    """Return a time in whole days, weeks or months, the smallest of them up to its limit."""
    days = round(span.total_seconds() / 86_400)
    if days < 1:
        return "less than a day"
    if days < DAYS:
        return f"about {counted(days, 'day')}"
    weeks = round(days / 7)
    return f"about {weeks} weeks" if weeks < WEEKS else f"about {round(days / 30.44)} months"


def _left(tier: TierCourseView) -> float:
    return tier.shares[-1] or 0.0


def _since(tier: TierCourseView, now: datetime) -> str:
    if tier.hides:
        return ""
    if tier.charged_at is None:
        return ", and nothing was charged to it yet"
    if now - tier.charged_at < timedelta(days=1):
        return ", after charges within the last day"
    return f", and nothing was charged to it since {tier.charged_at:%Y-%m-%d}"
