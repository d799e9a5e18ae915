"""Draw releases and running totals as the server's pages do, with the same code.

``charts`` is the folder that the server draws with, which knows numbers and texts alone.  Here is
what a release or totals give it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Protocol

from penstock_client._http.fields import Fields, Key
from penstock_client._show.charts.distribution import Quantile
from penstock_client._show.charts.drawing.files import as_file, light_colors
from penstock_client._show.charts.drawing.svg import WIDE
from penstock_client._show.charts.drawing.values import Interval, Level
from penstock_client._show.charts.results.crossings import (
    MOST_CROSSED,
    by_keys,
    by_table,
    marginal_remark,
    two_way,
)
from penstock_client._show.charts.results.drawings import MAP, MARGINS, Drawing, Names
from penstock_client._show.charts.results.releases import (
    MOST_KEYS,
    Steps,
    by_group,
    by_rank,
    by_share,
    label_of,
    parts_of,
)
from penstock_client._show.charts.results.totals import (
    MOST_NUMBERS,
    Numbers,
    by_step,
    level_of,
    places_of,
    remarks_of,
    suffix_of,
)
from penstock_client._show.shown import ShownRelease, ShownStream, ShownTotals
from penstock_client._values.elements import spread_of
from penstock_client._values.estimates import Estimate
from penstock_client._values.wording import Wording
from penstock_client.errors import CovarianceUnknown, InvalidArgument
from penstock_client.figures import printable

LOOKS = ("", MAP, MARGINS)
"""Ways to draw a result by two keys: as usual, as a heat map, or as one of margins of error."""

STYLESHEET = Path(__file__).with_name("charts.css")


@dataclass(frozen=True)
class Figure:
    """Hold the chart of a result: the one of the server's page, in one SVG.

    ``message`` is the sentence that it shows, ``remark`` what is left out of it.  ``svg`` is a
    document that stands alone, the sentence on it, dark on white: what the page offers as a
    download.  A notebook shows the chart in the color of its own text.
    """

    message: str
    remark: str
    svg: str = field(repr=False)
    _inline: str = field(repr=False)

    def save(self, path: Path | str) -> None:
        """Write ``svg`` to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return the sentence and the chart, in the color of the text around them."""
        remark = f"<p>{escape(printable(self.remark))}</p>" if self.remark else ""
        message = f"<p><strong>{escape(self.message)}</strong></p>" if self.message else ""
        return f"<div>{message}{self._inline}{remark}</div>"


class Worded(Protocol):
    """Represent a query or a stream, with the texts that people wrote about it."""

    @property
    def name(self) -> str: ...
    @property
    def wording(self) -> Wording: ...


def wording_of(registered: Worded | None, name: str) -> Wording:
    """Return the texts of the query or stream of that name; none without one.

    Raises ``InvalidArgument`` for another one.
    """
    if registered is None:
        return Wording()
    if registered.name != name:
        raise InvalidArgument(f"These are numbers of {name!r}, not of {registered.name!r}.")
    return registered.wording


def figure_of(
    release: ShownRelease, wording: Wording, group: Key | None = None, show: str = ""
) -> Figure:
    """Return the figure of a release.

    Raises ``InvalidArgument`` if there is no such group, or no such way to ``show`` it.
    """
    return _figure(drawn(release, wording, group, show), f"penstock-{release.id}")


def figure_of_totals(
    totals: ShownTotals, stream: ShownStream | None = None, number: int = 0
) -> Figure:
    """Return the figure of one number of a stream's elements, from 0.

    Without the stream it has the totals alone.  Raises ``InvalidArgument`` for another stream, and
    for a number that is not drawn.
    """
    prefix = f"penstock-{totals.stream}-{totals.tier}-{totals.items[0].t}-{totals.items[-1].t}"
    return _figure(drawn_totals(totals, stream, number), f"{prefix}-{number}")


def drawn(
    release: ShownRelease, wording: Wording, group: Key | None = None, show: str = ""
) -> Drawing:
    """Return the drawing of a release, as its page has it."""
    if show not in LOOKS:
        raise InvalidArgument(f"A figure shows 'map', 'margins', or '' as usual, not {show!r}.")
    names = Names(
        f"{release.query} at {release.tier}", wording.title or release.query, wording.unit
    )
    confidence = release.error.confidence
    if release.distributions:
        return _by_share(release, names, wording, group)
    if group is not None:
        raise InvalidArgument(f"{release.query!r} has no distribution functions to choose from.")
    lower, upper = zip(*release.interval(confidence), strict=True) if release.values else ((), ())
    own = [Interval(*each) for each in zip(release.values, lower, upper, strict=True)]
    places = list(range(len(own)))
    if release.histogram is not None:
        places.sort(key=lambda place: -own[place].value)
    # Of a part of the values nothing is said as if it were all.
    whole = release.answer.get("part") is None
    table = _table(release, names, own, wording, show) if whole else None
    if table is not None:
        return table
    kinds = (release.histogram, release.estimates, release.marginals)
    crossed = whole and not any(kinds)
    places = places[: MOST_CROSSED if crossed else MOST_KEYS]
    level = Level(release.tier, tuple(own[place] for place in places))
    if crossed:
        parts = tuple(parts_of(release.keys[place], wording.shown_labels) for place in places)
        return by_keys(names, parts, (level,), confidence, len(own), look=show)
    labels = tuple(label_of(release.keys[place], wording.shown_labels) for place in places)
    if release.histogram is not None:
        return by_rank(names, labels, level, confidence, len(own))
    return by_group(names, labels, (level,), confidence, len(own))


def _table(
    release: ShownRelease, names: Names, own: list[Interval], wording: Wording, show: str
) -> Drawing | None:
    """Return the drawing of the first marginal of two columns; None without one."""
    columns = [len(each.columns) for each in release.marginals]
    first = two_way(columns, [len(each.values) for each in release.marginals])
    if first is None:
        return None
    place, before = first
    marginal = release.marginals[place]
    keys = tuple(parts_of(key, wording.shown_labels) for key in marginal.values)[:MOST_CROSSED]
    named = Names(names.title, f"{names.subject}, {' and '.join(marginal.columns)}", names.unit)
    level = Level(release.tier, tuple(own[before : before + len(keys)]))
    remark = marginal_remark(columns)
    total, confidence = len(marginal.values), release.error.confidence
    return by_table(named, keys, (level,), confidence, total, remark, show)


def _by_share(release: ShownRelease, names: Names, wording: Wording, group: Key | None) -> Drawing:
    groups = {each.key: each for each in release.distributions}
    chosen = release.distributions[0] if group is None else groups.get(group)
    if chosen is None:
        raise InvalidArgument(f"{release.query!r} has no distribution function of {group!r}.")
    key = "" if chosen.key is None else f", {label_of(chosen.key, wording.shown_labels)}"
    named = Names(f"{names.title}{key}", f"{names.subject}{key}", names.unit)
    edges = Fields(dict(release.answer), "release").child("quantiles").vector("edges")
    steps = Steps(edges, chosen.shares or (), chosen.lower or (), chosen.upper or ())
    quantiles = tuple(
        Quantile(each.name.replace(":", " "), float(each.name.partition(":")[2]), own)
        for each in release.estimates
        if each.name.startswith("quantile:") and each.key == chosen.key
        if (own := _interval(each)) is not None
    )
    return by_share(named, release.tier, steps, quantiles, release.error.confidence)


def _interval(estimate: Estimate) -> Interval | None:
    if estimate.value is None or estimate.lower is None or estimate.upper is None:
        return None
    return Interval(estimate.value, estimate.lower, estimate.upper)


def drawn_totals(
    totals: ShownTotals, stream: ShownStream | None = None, number: int = 0
) -> Drawing:
    """Return the drawing of running totals, with its stream as the page of that has it.

    The values of steps are drawn where the noise that two totals share is known.
    """
    wording = wording_of(stream, totals.stream)
    dimension, places = len(totals.items[0].values), places_of(len(totals.items))
    if not 0 <= number < min(dimension, MOST_NUMBERS):
        least = f"{totals.stream!r} has {dimension:,} numbers, and figures of the first"
        raise InvalidArgument(f"{least} {MOST_NUMBERS}: there is none of number {number}.")
    items = [totals.items[place] for place in places]
    suffix = suffix_of(number, dimension, wording.shown_labels)
    remarks = (len(places), len(totals.items), dimension)
    names = Names(
        f"{totals.stream}: running totals{suffix}",
        f"{wording.title or totals.stream}{suffix}",
        wording.unit,
    )
    sums = [item.values[number] for item in items]
    level = level_of(totals.tier, sums, [item.error.half_width for item in items])
    days = tuple(totals.days[place] for place in places) if totals.days else ()
    shown = Numbers(tuple(item.t for item in items), (level,), days)
    values = Numbers() if stream is None else _values_of(totals, stream, places, number)
    remark = " ".join(remarks_of(*remarks))
    return by_step(names, values, shown, items[0].error.confidence, remark)


def _values_of(
    totals: ShownTotals, stream: ShownStream, places: Sequence[int], number: int
) -> Numbers:
    """Return the values of steps that the totals contain; none if their noise is not known."""
    answers = Fields(dict(totals.answer), "totals"), Fields(dict(stream.answer), "stream")
    steps, values, halves = [], [], []
    try:
        confidence = totals.items[0].error.confidence
        spread = spread_of(totals.mechanism, *answers, stream.length, confidence)
        for place in places:
            item = totals.items[place]
            if place or item.t == 1:
                before = totals.items[place - 1].values[number] if place else 0.0
                steps.append(item.t)
                values.append(item.values[number] - before)
                halves.append(spread(item.t, item.error.standard_deviation)[1])
    except (CovarianceUnknown, InvalidArgument):
        return Numbers()
    days = tuple(totals.days[step - totals.items[0].t] for step in steps) if totals.days else ()
    return Numbers(tuple(steps), (level_of(totals.tier, values, halves),), days)


def _figure(drawing: Drawing, prefix: str) -> Figure:
    sentence = drawing.message or drawing.table.caption
    alone = as_file(drawing.draw("chart", WIDE), sentence, _colors())
    return Figure(sentence, drawing.remark, alone, drawing.draw(prefix, WIDE))


@cache
def _colors() -> dict[str, str]:
    return light_colors(STYLESHEET.read_text(encoding="utf-8"))
