"""Present the releases of a query that a user has as charts with their tables."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.services.noise.intervals import ends
from penstock.services.schemas.estimates.quantiles import BinnedCountsView
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.schemas.views import EstimateView, HistoryItemView, Key, ReleaseView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.web.charts.distribution import Quantile
from penstock.web.charts.drawing.values import Interval, Level
from penstock.web.charts.results.crossings import (
    MOST_CROSSED,
    by_keys,
    by_table,
    marginal_remark,
    two_way,
)
from penstock.web.charts.results.drawings import MAP, MARGINS, Drawing, Names
from penstock.web.charts.results.releases import (
    MOST_KEYS,
    Steps,
    by_group,
    by_rank,
    by_share,
    label_of,
    parts_of,
)
from penstock.web.presenters.figure import Picture, pictured

MOST_DRAWN = 6
"""Levels shown side by side if none was chosen: the most accurate ones."""

MOST_CHOSEN = 8
"""Largest number of levels side by side; of more, marks would look alike."""

MOST_CELLS, MOST_LISTED = 2000, 40
"""Largest numbers of intervals and of levels in the table beside the picture."""

MOST_GROUPS = 500
"""Largest number of groups of quantiles to choose one of."""

LONGEST_NUMBER = 40

LOOKS = ("", MAP, MARGINS)
"""Ways to draw a result by two keys: as usual, as a heat map, or as one of margins of error."""

PLAIN = StatisticWordingView()
"""What stands for texts that nobody wrote: names and keys are shown as they are."""


@dataclass(frozen=True)
class ShownReleases:
    """Hold every level of a query that a user has, the most accurate first.

    ``names`` distinguishes releases; those ``drawn`` are in the picture.  A sparse histogram shows
    ``single``, since each level has its own keys.
    """

    items: Sequence[HistoryItemView]
    names: Mapping[str, str]
    drawn: frozenset[str]
    single: bool
    picture: Picture


def names_of(items: Sequence[HistoryItemView | ReleaseView]) -> dict[str, str]:
    """Name each release by its tier, and by its epsilon too if others have the same tier."""
    tiers = Counter(item.tier for item in items)
    return {
        item.id: item.tier
        if tiers[item.tier] == 1
        else f"ε {item.guarantee.epsilon:.3g}, {item.tier}"
        for item in items
    }


def selected(ids: Sequence[str], chosen: Collection[str], keys: int) -> tuple[list[str], list[str]]:
    """Return which of the releases ``ids`` are drawn, and which are in the table of ``keys`` rows.

    Drawn are those ``chosen``, else the most accurate; the table has all up to a size.
    """
    drawn = [release_id for release_id in ids if release_id in chosen][:MOST_CHOSEN] or list(
        ids[:MOST_DRAWN]
    )
    room = min(max(MOST_CELLS // max(min(keys, MOST_KEYS), 1), MOST_CHOSEN), MOST_LISTED)
    listed = {*drawn, *ids[: max(room - len(drawn), 0)]}
    return drawn, [release_id for release_id in ids if release_id in listed]


def shown_releases(
    items: Sequence[HistoryItemView],
    views: Sequence[ReleaseView],
    drawn: Collection[str],
    title: str,
    wording: StatisticWordingView = PLAIN,
    look: str = "",
) -> ShownReleases | None:
    """Return ``items`` with a table of ``views`` and a picture of those ``drawn``.

    ``wording`` has the query's title, its unit, and labels, which stand in place of keys in the
    picture, and before them in the table.  ``look`` is one of ``LOOKS``.
    """
    if not views:
        return None
    names = names_of(items)
    shown = [view for view in views if view.id in drawn] or list(views[:1])
    single = shown[0].histogram is not None
    if single:
        shown = shown[:1]
        picture_drawn = release_picture(shown[0], f"{title}, {names[shown[0].id]}", wording=wording)
    else:
        remark = " ".join(_left_out(len(items), len(views), len(shown)))
        places = {item.id: place for place, item in enumerate(items)}
        picture_drawn = _side_by_side(shown, views, names, places, title, remark, wording, look)
    return ShownReleases(
        items, names, frozenset(release.id for release in shown), single, picture_drawn
    )


def release_picture(
    release: ReleaseView,
    title: str,
    group: int = 0,
    wording: StatisticWordingView = PLAIN,
    look: str = "",
) -> Picture:
    """Return the picture of one release; a sparse histogram shows its keys by value.

    For quantiles it is the distribution function of one ``group``, by its place from 0.  ``look``
    is one of ``LOOKS``; what has only one is drawn as it is.
    """
    if release.distributions is not None:
        return _distribution(release, title, group, wording)
    if release.histogram is not None:
        places = np.argsort(-np.asarray(release.values), kind="stable")[:MOST_KEYS]
        return _ranking(release, title, places, wording)
    names = {release.id: release.tier}
    return _side_by_side([release], [release], names, {}, title, "", wording, look)


def groups_of(release: ReleaseView, wording: StatisticWordingView = PLAIN) -> list[str]:
    """Return the names of the groups that have distribution functions; none without groups."""
    groups = (each.key for each in release.distributions or ())
    return [_label(key, wording) for key in groups if key is not None]


def look_in(text: str) -> str:
    """Return how a form chose to draw a result.  Raises ``InvalidInput`` for what there is not."""
    if text not in LOOKS:
        raise InvalidInput("A chart is shown as map, as margins, or as usual.", pointer="/show")
    return text


def group_in(text: str, release: ReleaseView) -> int:
    """Return the place of a group, from 0, that a form chose by its number from 1.

    Raises ``InvalidInput`` if there is no such group.
    """
    count = max(len(release.distributions or ()), 1)
    known = text.isascii() and text.isdigit() and len(text) < LONGEST_NUMBER
    if text and not (known and 1 <= int(text) <= count):
        raise InvalidInput(f"A group is a number from 1 to {count:,}.", pointer="/group")
    return int(text or 1) - 1


def _distribution(
    release: ReleaseView, title: str, group: int, wording: StatisticWordingView
) -> Picture:
    """Return the distribution function of a group, and its quantiles."""
    chosen, bins = (release.distributions or ())[group], release.quantiles
    if bins is None:
        raise RuntimeError("a release with distribution functions has bins")
    parts = (chosen.shares, chosen.lower, chosen.upper)
    quantiles = tuple(
        Quantile(each.name.replace(":", " "), share, _interval(each, bins))
        for each in _quantiles(release)
        if each.key == chosen.key and each.value is not None
        for share in (float(each.name.partition(":")[2]),)
    )
    key = "" if chosen.key is None else f", {_label(chosen.key, wording)}"
    names = Names(f"{title}{key}", f"{wording.title or release.query}{key}", wording.unit)
    steps = Steps(
        tuple(bins.edges), *(() if part is None else tuple(part.tolist()) for part in parts)
    )
    drawn = by_share(names, release.tier, steps, quantiles, release.error.confidence)
    return pictured(drawn, "results")


def _side_by_side(
    shown: Sequence[ReleaseView],
    listed: Sequence[ReleaseView],
    names: Mapping[str, str],
    places: Mapping[str, int],
    title: str,
    remark: str,
    wording: StatisticWordingView,
    look: str,
) -> Picture:
    """Return releases of one query side by side; they have equal keys unless sparse."""
    best, confidence = shown[0], shown[0].error.confidence
    count = len(_keys(best, wording))
    called = Names(title, wording.title or best.query, wording.unit)

    def levels(of: Sequence[ReleaseView], keys: NDArray[np.intp]) -> tuple[Level, ...]:
        return tuple(
            Level(names[release.id], _intervals(release, keys), places.get(release.id))
            for release in of
        )

    first = np.arange(min(count, MOST_KEYS))
    coded = _labels(best, first, wording, _coded)
    table = by_group(called, coded, levels(listed, first), confidence, count).table
    made: Drawing | None = None
    # Of a part of the values nothing is said as if it were all.
    if best.part is None and best.marginals is not None and (cells := _two_way(best)):
        columns, within, keys, total = cells
        parts = tuple(parts_of(key, wording.shown_labels) for key in keys)
        named = replace(called, subject=f"{called.subject}, {' and '.join(columns)}")
        tables = marginal_remark([len(each.columns) for each in best.marginals])
        remarks = " ".join(filter(None, (remark, tables)))
        made = by_table(named, parts, levels(shown, within), confidence, total, remarks, look)
        if made is not None:
            # The table is of the cells that are drawn, and not of the tables before them.
            few = within[:MOST_KEYS]
            coded, listed_levels = _labels(best, few, wording, _coded), levels(listed, few)
            table = by_group(called, coded, listed_levels, confidence, total).table
    # Estimates have keys of several kinds, and not all are values of the same quantity.
    elif best.part is None and best.estimates is None and best.marginals is None:
        within, listed_keys = np.arange(min(count, MOST_CROSSED)), _keys(best, wording)
        parts = tuple(parts_of(listed_keys[int(each)], wording.shown_labels) for each in within)
        made = by_keys(called, parts, levels(shown, within), confidence, count, remark, look)
    if made is None:
        labels = _labels(best, first, wording)
        made = by_group(called, labels, levels(shown, first), confidence, count, remark)
    return replace(pictured(made, "results"), table=table)


def _two_way(
    release: ReleaseView,
) -> tuple[list[str], NDArray[np.intp], list[list[str]], int] | None:
    """Return the first marginal of two columns: these, places and keys of its cells, their number.

    Places and keys are those of the first ``MOST_CROSSED`` cells.
    """
    tables = release.marginals or []
    sizes = [len(each.columns) for each in tables], [len(each.cells) for each in tables]
    first = two_way(*sizes)
    if first is None:
        return None
    place, before = first
    cells = tables[place].cells[:MOST_CROSSED]
    places = np.arange(before, before + len(cells))
    keys = [list(cell.key) for cell in cells]
    return tables[place].columns, places, keys, len(tables[place].cells)


def _left_out(count: int, listed: int, shown: int) -> Iterator[str]:
    if shown < count:
        yield f"{shown} of your {count} levels are shown; choose below."
    if listed < count:
        yield f"The table lists {listed} of them."


def _ranking(
    best: ReleaseView, title: str, places: NDArray[np.intp], wording: StatisticWordingView
) -> Picture:
    level, confidence = Level(best.tier, _intervals(best, places)), best.error.confidence
    names = Names(title, wording.title or best.query, wording.unit)

    def drawn(named: Naming) -> Drawing:
        labels = _labels(best, places, wording, named)
        return by_rank(names, labels, level, confidence, len(best.keys))

    return replace(pictured(drawn(_label), "results"), table=drawn(_coded).table)


def level_request(given: Mapping[str, str]) -> ReleaseRequest:
    """Return the level that a form requests: a tier's, an epsilon's, or the caller's own.

    Raises ``InvalidInput`` for both at once, or an epsilon that is not a number above 0.
    """
    tier, epsilon = given.get("tier", "").strip(), given.get("epsilon", "").strip()
    if tier and epsilon:
        raise InvalidInput("Choose a tier or enter an epsilon, not both.", pointer="/epsilon")
    if epsilon:
        return ReleaseRequest(epsilon=positive(epsilon, "epsilon"))
    return ReleaseRequest(tier=tier or None)


def positive(text: str, what: str) -> float:
    """Return a number above 0 from a form.  Raises ``InvalidInput``."""
    try:
        number = float(text) if text.isascii() and len(text) <= LONGEST_NUMBER else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise InvalidInput(f"{what} must be a number above 0, such as 0.5.", pointer=f"/{what}")
    return number


def _label(key: Key | None, wording: StatisticWordingView) -> str:
    """Return a key as its readers see it: each part by its label, if it has one."""
    return label_of(key, wording.shown_labels)


def _coded(key: Key | None, wording: StatisticWordingView) -> str:
    """Return a key by its labels with its code behind them, if it has any."""
    code, label = _label(key, PLAIN), _label(key, wording)
    return label if code == label else f"{label} ({code})"


Naming = Callable[[Key | None, StatisticWordingView], str]


def _keys(
    release: ReleaseView, wording: StatisticWordingView, named: Naming = _label
) -> Sequence[Key]:
    """Return the keys of what is drawn: for quantiles of those, and not of their counts."""
    keys: Any = release.keys
    if release.quantiles is None:
        return cast("Sequence[Key]", keys)
    groups = ((named(each.key, wording), each) for each in _quantiles(release))
    return [each.name if each.key is None else f"{group}, {each.name}" for group, each in groups]


def _quantiles(release: ReleaseView) -> list[EstimateView]:
    return [each for each in release.estimates or [] if each.name.startswith("quantile:")]


def _labels(
    release: ReleaseView,
    places: NDArray[np.intp],
    wording: StatisticWordingView,
    named: Naming = _label,
) -> tuple[str, ...]:
    keys = _keys(release, wording, named)
    return tuple(named(keys[int(place)], wording) for place in places)


def _intervals(release: ReleaseView, places: NDArray[np.intp]) -> tuple[Interval, ...]:
    if release.quantiles is not None:
        quantiles = _quantiles(release)
        return tuple(_interval(quantiles[int(place)], release.quantiles) for place in places)
    lower, upper = ends(release)
    parts = (np.asarray(part)[places].tolist() for part in (release.values, lower, upper))
    return tuple(Interval(*numbers) for numbers in zip(*parts, strict=True))


def _interval(estimate: EstimateView, bins: BinnedCountsView) -> Interval:
    if estimate.value is None or estimate.lower is None or estimate.upper is None:
        # The noise is too large for a number, so that it may be any between the bounds.
        return Interval(bins.edges[0], bins.edges[0], bins.upper)
    return Interval(estimate.value, estimate.lower, estimate.upper)
