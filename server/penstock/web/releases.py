"""What somebody holds of a query, as charts and their tables take it."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.services.intervals import ends
from penstock.services.specs import ReleaseRequest
from penstock.services.views import Key, QueryView, ReleaseView
from penstock.web.charts import intervals, ranked
from penstock.web.charts.values import Interval, Level
from penstock.web.pictures import Picture, picture

MOST_KEYS = 200
"""Rows of a page; all of them are in a download."""


LONGEST_NUMBER = 40

_ELSEWHERE = frozenset(
    {"name", "dataset", "mechanism", "levels", "share", "keys", "max_levels", "sensitivity"}
)


def held_picture(held: Sequence[ReleaseView], title: str) -> Picture | None:
    """The releases side by side, the most accurate first; none where nothing is held.

    Releases of one query have the same keys, but for those of sparse histograms, of which
    the most accurate one alone is drawn, the keys by value.
    """
    if not held:
        return None
    best = held[0]
    count = len(best.keys)
    if best.histogram is not None:
        places = np.argsort(-np.asarray(best.values), kind="stable")[:MOST_KEYS]
        return _ranking(best, title, places, count)
    places = np.arange(min(count, MOST_KEYS))
    groups = intervals.Groups(
        title,
        _labels(best, places),
        tuple(Level(_named(one, held), _intervals(one, places)) for one in held),
        confidence=best.error.confidence,
        total=count,
    )
    return picture(intervals.bars_with_intervals, intervals.rows, groups, "held")


def _ranking(best: ReleaseView, title: str, places: NDArray[np.intp], count: int) -> Picture:
    content = ranked.Ranking(
        title,
        _labels(best, places),
        Level(best.tier, _intervals(best, places)),
        remark="Keys with small counts are missing, and a few with none may be here.",
        confidence=best.error.confidence,
        total=count,
    )
    return picture(ranked.ranked_list, ranked.rows, content, "held")


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
        number = float(text) if text.isascii() and len(text) <= LONGEST_NUMBER else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise InvalidInput(f"{what} is a number above 0, such as 0.5.", pointer=f"/{what}")
    return number


def _labels(one: ReleaseView, places: NDArray[np.intp]) -> tuple[str, ...]:
    return tuple(_label(one.keys[int(place)]) for place in places)


def _label(key: Key) -> str:
    return ", ".join(key) if isinstance(key, list) else str(key)


def _named(one: ReleaseView, among: Sequence[ReleaseView]) -> str:
    """A level by its tier; by its epsilon besides where it shares that with others."""
    several = sum(other.tier == one.tier for other in among) > 1
    return f"{one.tier} (epsilon {one.guarantee.epsilon:.3g})" if several else one.tier


def _intervals(one: ReleaseView, places: NDArray[np.intp]) -> tuple[Interval, ...]:
    lower, upper = ends(one)
    parts = (np.asarray(part)[places].tolist() for part in (one.values, lower, upper))
    return tuple(Interval(*numbers) for numbers in zip(*parts, strict=True))
