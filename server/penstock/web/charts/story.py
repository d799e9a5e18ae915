"""Explain tiers and lossless releases in one picture of one statistic's releases.

It takes released values only; the exact value does not appear in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ...figures import percent
from .drawing.axes import Axis, linear
from .drawing.lettering import fitted, width_of, wrapped
from .drawing.marks import chosen, mark, shaded
from .drawing.numbers import Digits, digits_of
from .drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    STRONG,
    document,
    element,
    group,
    isolated,
    note,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from .drawing.values import Interval, Table, ends, finite
from .losses import EACH, INDEPENDENT, TOGETHER, Loss, loss_bars

LINE = 46
GAP = 16
NONE = "Nothing has been released yet."
POOLED = "all together"


@dataclass(frozen=True)
class Release:
    """Represent the number released to a tier, with its reader and its epsilon.

    ``place`` gives the tier the same color and shape in all charts.
    """

    tier: str
    reader: str
    interval: Interval
    epsilon: float
    place: int | None = None

    def __post_init__(self) -> None:
        finite(self.epsilon, f"the epsilon of {self.tier}")


@dataclass(frozen=True)
class Story:
    """Hold a statistic's releases at every tier, and the privacy loss of all of them.

    ``together`` is their joint epsilon, ``independent`` the epsilon if each had been drawn
    with independent noise.  None means an unbounded loss.
    """

    title: str
    quantity: str
    releases: tuple[Release, ...]
    together: float | None
    independent: float | None
    confidence: float = 0.95


@dataclass(frozen=True)
class Sheet:
    """Hold the layout: names on the left, ``axis`` in the middle, numbers on the right."""

    width: int
    axis: Axis
    top: float
    digits: Digits


def story(content: Story, prefix: str, width: int = NARROW) -> str:
    """Return the picture: the most accurate release first, all releases together last."""
    releases = _sorted(content)
    if not releases:
        return nothing(prefix, content.title, NONE, width)
    lead = wrapped(_lead(content), width)
    sheet = _sheet(releases, width, NOTE * len(lead) + 44.0)
    styles = chosen([release.place for release in releases])
    bottom = sheet.top + LINE * len(releases)
    last = bottom + GAP
    parts = [*note(12, lead), *_scale(sheet, bottom, last)]
    parts += _guides(releases[0], sheet, last + LINE)
    parts += _path(releases, sheet)
    for place, (release, style) in enumerate(zip(releases, styles, strict=True)):
        names = (release.tier, f"{release.reader}, ε {_epsilon(release)}")
        y = sheet.top + LINE * (place + 0.5)
        parts += _line(names, release.interval, style, y, sheet)
    best = releases[0]
    parts += _line((POOLED, f"as {best.tier} alone"), best.interval, styles[0], last + 23, sheet)
    end = wrapped(_end(releases), width)
    foot = last + LINE + NOTE * len(end) + 4
    parts += note(last + LINE + NOTE + 4, end)
    losses = _losses(content)
    parts += loss_bars(losses, 0, foot + 18, min(width, 520))
    size = (width, foot + 18 + EACH * len(losses))
    return document(prefix, content.title, _described(content, releases, sheet), size, parts)


def rows(content: Story) -> Table:
    """Return the same numbers: one row per tier, then all together, then if drawn independently."""
    at = percent(content.confidence)
    head = ("tier", "reader", "value", f"lower {at}", f"upper {at}", "epsilon")
    releases = _sorted(content)
    digits = digits_of([release.interval for release in releases])

    def numbers(interval: Interval) -> tuple[str, str, str]:
        return (
            digits.write(interval.value),
            digits.write(interval.lower),
            digits.write(interval.upper),
        )

    body = [
        (release.tier, release.reader, *numbers(release.interval), f"ε {_epsilon(release)}")
        for release in releases
    ]
    together, independent = _losses(content)
    if releases:
        body.append((POOLED, "", *numbers(releases[0].interval), together.written))
    body.append((independent.name, "", "", "", "", independent.written))
    return Table(content.title, head, tuple(body), frozenset({2, 3, 4, 5}))


def _sorted(content: Story) -> list[Release]:
    return sorted(content.releases, key=lambda release: (release.interval.half_width, release.tier))


def _epsilon(release: Release) -> str:
    return Loss("", release.epsilon).written.removeprefix("ε ")


def _losses(content: Story) -> tuple[Loss, Loss]:
    return Loss(TOGETHER, content.together), Loss(INDEPENDENT, content.independent)


def _lead(content: Story) -> str:
    what = f"{content.quantity[:1].upper()}{content.quantity[1:]}"
    return (
        f"{what}, as released to each tier, with {percent(content.confidence)} confidence"
        " intervals. Each number is the one above it plus more noise."
    )


def _end(releases: Sequence[Release]) -> str:
    return (
        f"Readers who pool all of these numbers learn what {releases[0].tier} knows alone:"
        " the others are that number with noise added, and reveal nothing more."
    )


def _sheet(releases: Sequence[Release], width: int, top: float) -> Sheet:
    digits = digits_of([release.interval for release in releases])
    names = [
        name
        for shown_release in releases
        for name in (shown_release.tier, f"{shown_release.reader}, ε {_epsilon(shown_release)}")
    ]
    longest = max(width_of(name, bold=True) for name in (*names, f"as {releases[0].tier} alone"))
    left = min(longest, width * 0.34) + GAP
    written = (digits.write(release.interval.value) for release in releases)
    values = max(max(map(width_of, written)) * 1.12, 44.0) + GAP + 4
    low, high = ends([release.interval for release in releases])
    axis = linear(low, high, left, width - values, 6 if width >= 560 else 3)
    return Sheet(width, axis, top, digits)


def _scale(sheet: Sheet, bottom: float, last: float) -> Iterator[Element]:
    for value, label in sheet.axis.ticks:
        x = sheet.axis.at(value)
        yield text(x, sheet.top - 8, label, anchor="middle", kind=QUIET)
        yield rule(x, sheet.top, x, bottom)
        yield rule(x, last, x, last + LINE)
    middle = (bottom + last) / 2
    yield rule(0, middle, sheet.width, middle, "axis")


def _guides(best: Release, sheet: Sheet, bottom: float) -> Iterator[Element]:
    """Yield a shade over the best interval, from the first line to the last."""
    left, right = sheet.axis.at(best.interval.lower), sheet.axis.at(best.interval.upper)
    yield element(
        "rect",
        class_="guide",
        fill="currentColor",
        fill_opacity="0.07",
        x=left,
        width=right - left,
        y=sheet.top,
        height=bottom - sheet.top,
    )


def _path(releases: Sequence[Release], sheet: Sheet) -> Iterator[Element]:
    points = (
        f"{number(sheet.axis.at(release.interval.value))} {number(sheet.top + LINE * (p + 0.5))}"
        for p, release in enumerate(releases)
    )
    yield stroked("way", f"M{'L'.join(points)}", "1.5", stroke_dasharray="3 3")


def _line(
    names: tuple[str, str], interval: Interval, style: int, y: float, sheet: Sheet
) -> Iterator[Element]:
    axis, digits, room = sheet.axis, sheet.digits, sheet.axis.start - GAP / 2
    left, x, right = axis.at(interval.lower), axis.at(interval.value), axis.at(interval.upper)
    way = (
        f"M{number(left)} {number(y)}H{number(right)}"
        f"M{number(left)} {number(y - 6)}v12M{number(right)} {number(y - 6)}v12"
    )
    whisker = stroked("whisker", way, "2.5")
    value = digits.write(interval.value)
    sentence = f"{isolated(names[0])}: {value} ({digits.range(interval)})"
    yield text(0, y - 2, fitted(names[0], room, bold=True), kind=STRONG)
    yield text(0, y + 13, fitted(names[1], room), kind=QUIET)
    yield group(shaded(style), whisker, mark(style, x, y, 5.5), title=sentence)
    yield text(sheet.width, y - 2, value, anchor="end", kind=STRONG)
    half = f"±{digits.write(interval.half_width)}"
    yield text(sheet.width, y + 13, half, anchor="end", kind=QUIET)


def _described(content: Story, releases: Sequence[Release], sheet: Sheet) -> str:
    digits = sheet.digits
    seen = "; ".join(
        f"{isolated(release.tier)}, epsilon {_epsilon(release)}:"
        f" {digits.write(release.interval.value)} ({digits.range(release.interval)})"
        for release in releases
    )
    costs = "; ".join(f"{loss.name}: {loss.written}" for loss in _losses(content))
    return f"{_lead(content)} {seen}. {_end(releases)} {costs}."
