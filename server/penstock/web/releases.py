"""What somebody holds of a query, as charts and their tables take it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from markupsafe import Markup

from penstock.errors import InvalidInput
from penstock.services.intervals import ends
from penstock.services.specs import ReleaseRequest
from penstock.services.views import Key, QueryView, ReleaseView
from penstock.web.charts import intervals
from penstock.web.charts.svg import both_widths
from penstock.web.charts.values import Interval, Level, Table

MOST_KEYS = 200
"""Rows of a page; all of them are in a download."""


_ELSEWHERE = frozenset(
    {"name", "dataset", "mechanism", "levels", "share", "keys", "max_levels", "sensitivity"}
)


@dataclass(frozen=True)
class Picture:
    """A chart, the same numbers as a table, and how many keys it leaves out."""

    drawn: Markup
    table: Table
    shown: int
    left_out: int


def picture(held: Sequence[ReleaseView], title: str) -> Picture | None:
    """The releases side by side, the most accurate first; none where nothing is held.

    Releases of one query have the same keys, but for those of sparse histograms, of which
    the most accurate one alone is drawn.
    """
    if not held:
        return None
    shown = held[:1] if held[0].histogram is not None else held
    count = min(len(held[0].keys), MOST_KEYS)
    places = range(count)
    groups = intervals.Groups(
        title,
        tuple(_label(held[0].keys[place]) for place in places),
        tuple(Level(_named(one, shown), _intervals(one, count)) for one in shown),
        confidence=held[0].error.confidence,
    )
    drawn = both_widths(partial(intervals.bars_with_intervals, groups), "held")
    left_out = len(held[0].keys) - count
    # Charts escape every text that they are given.
    return Picture(Markup(drawn), intervals.rows(groups), count, left_out)  # noqa: S704


def asks(query: QueryView) -> list[tuple[str, str]]:
    """What was asked for, as it was registered: the name of each part, and the part."""
    return [
        (name.replace("_", " "), part if isinstance(part, str) else json.dumps(part))
        for name, part in query.spec.items()
        if name not in _ELSEWHERE and part not in (None, [], {})
    ]


def wanted(given: Mapping[str, str]) -> ReleaseRequest:
    """Which level a form asks for: a tier's, one of an epsilon, or one's own.

    Raises ``InvalidInput``.
    """
    tier, epsilon = given.get("tier", "").strip(), given.get("epsilon", "").strip()
    if tier and epsilon:
        raise InvalidInput("Choose a tier or give an epsilon, not both.", pointer="/epsilon")
    if epsilon:
        return ReleaseRequest(epsilon=positive(epsilon, "epsilon"))
    return ReleaseRequest(tier=tier or None)


def positive(text: str, what: str) -> float:
    """A number above 0 out of a form.  Raises ``InvalidInput``."""
    try:
        number = float(text[:40])
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise InvalidInput(f"{what} is a number above 0, such as 0.5.", pointer=f"/{what}")
    return number


def _label(key: Key) -> str:
    return ", ".join(key) if isinstance(key, list) else str(key)


def _named(one: ReleaseView, among: Sequence[ReleaseView]) -> str:
    """A level by its tier; by its epsilon besides where it shares that with others."""
    several = sum(other.tier == one.tier for other in among) > 1
    return f"{one.tier} (epsilon {one.guarantee.epsilon:.3g})" if several else one.tier


def _intervals(one: ReleaseView, count: int) -> tuple[Interval, ...]:
    lower, upper = ends(one)
    parts = (np.asarray(part)[:count].tolist() for part in (one.values, lower, upper))
    return tuple(Interval(*numbers) for numbers in zip(*parts, strict=True))
