"""Draw what each tier's budget was spent on: one bar per tier, one piece per query."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ...errors import NotDrawable
from .drawing.lettering import fitted, width_of
from .drawing.marks import colored
from .drawing.numbers import counted, loss, share
from .drawing.svg import (
    NARROW,
    QUIET,
    STRONG,
    document,
    element,
    group,
    isolated,
    nothing,
    text,
)
from .drawing.values import Table, finite

BAR = 30
HEAD = 22
APART = 16
KEY = 20
MOST_NAMED = 12
SLACK = 1e-6
NONE = "No tier has a budget here yet."
NOTHING_SPENT = "Nothing has been spent."
OTHERS = "all others"


@dataclass(frozen=True)
class Part:
    """Represent the share of a budget that one query takes, from 0 to 1."""

    query: str
    share: float


@dataclass(frozen=True)
class TierBudget:
    """Hold a tier's budget and the shares of it that were spent."""

    tier: str
    epsilon: float
    parts: tuple[Part, ...] = ()

    @property
    def left(self) -> float:
        """Return the share of the budget that is not spent."""
        return max(0.0, 1.0 - sum(part.share for part in self.parts))


@dataclass(frozen=True)
class Budgets:
    """Hold the budgets of a dataset, the most private tier first; ``kind`` is what they are."""

    title: str
    tiers: tuple[TierBudget, ...]
    kind: str = "budget"


@dataclass(frozen=True)
class Piece:
    """Represent a piece of a bar; ``number`` is its number in the key (0: all other queries)."""

    number: int
    name: str
    start: float
    share: float


def budget_bars(budgets: Budgets, prefix: str, width: int = NARROW) -> str:
    """Return the chart: one bar per budget with numbered pieces, and a key to the numbers.

    Raises ``NotDrawable`` if a share is below 0, or if the shares add up to more than 1.
    """
    _checked(budgets)
    if not budgets.tiers:
        return nothing(prefix, budgets.title, NONE, width)
    names = _names(budgets)
    parts: list[Element] = []
    y = 0.0
    for tier in reversed(budgets.tiers):
        parts += _bar(tier, names, y, width)
        y += HEAD + BAR + APART
    key = list(_key(budgets, names, y + 4, width)) if names else []
    parts += key or [text(0, y + 12, NOTHING_SPENT, kind=QUIET)]
    height = y + 8 + (KEY * _key_rows(budgets, names, width) if names else 18)
    return document(prefix, budgets.title, _described(budgets), (width, height), parts)


def rows(budgets: Budgets) -> Table:
    """Return the same numbers: one row per query, one column per tier, the rest in the last row."""
    _checked(budgets)
    queries = _by_size(budgets)
    tiers = tuple(reversed(budgets.tiers))
    head = ("query", *(f"{tier.tier} (ε {loss(tier.epsilon)})" for tier in tiers))
    body = [(query, *(share(_share(tier, query)) for tier in tiers)) for query in queries]
    body.append(("left", *(share(tier.left) for tier in tiers)))
    return Table(budgets.title, head, tuple(body), frozenset(range(1, len(head))))


def _checked(budgets: Budgets) -> None:
    for tier in budgets.tiers:
        finite(tier.epsilon, f"the budget of {tier.tier}")
        total = sum(finite(part.share, f"the share of {part.query}") for part in tier.parts)
        if total > 1 + SLACK or any(part.share < 0 for part in tier.parts):
            raise NotDrawable(
                f"Shares of a budget must be 0 or more and add up to at most 1, but the smallest"
                f" share of {tier.tier} is {min(part.share for part in tier.parts):g} and all"
                f" its shares add up to {total:g}."
            )


def _share(tier: TierBudget, query: str) -> float:
    return sum(part.share for part in tier.parts if part.query == query)


def _by_size(budgets: Budgets) -> list[str]:
    """Return all queries, the one with the largest total share over all tiers first."""
    total: dict[str, float] = {}
    for tier in budgets.tiers:
        for part in tier.parts:
            total[part.query] = total.get(part.query, 0.0) + part.share
    return sorted(total, key=lambda query: (-total[query], query))


def _names(budgets: Budgets) -> list[str]:
    """Return the queries that the key names, in its order; all others share one piece."""
    queries = _by_size(budgets)
    return queries if len(queries) <= MOST_NAMED + 1 else queries[:MOST_NAMED]


def _pieces(tier: TierBudget, names: Sequence[str]) -> Iterator[Piece]:
    shares = [_share(tier, name) for name in names]
    others = sum(part.share for part in tier.parts if part.query not in names)
    start = 0.0
    for place, (name, part) in enumerate(zip(names, shares, strict=True), 1):
        if part > 0:
            yield Piece(place, name, start, part)
            start += part
    if others > 0:
        yield Piece(0, OTHERS, start, others)


def _bar(tier: TierBudget, names: Sequence[str], y: float, width: int) -> Iterator[Element]:
    summary = f"ε {loss(tier.epsilon)}, {share(tier.left)} left"
    room = width - width_of(summary) - 12
    yield text(0, y + 14, fitted(tier.tier, room, bold=True), kind=STRONG)
    yield text(width, y + 14, summary, anchor="end")
    top, length = y + HEAD, width - 2.0
    yield element(
        "rect",
        class_="left",
        fill="none",
        stroke="currentColor",
        stroke_opacity="0.6",
        x=1,
        y=top,
        width=length,
        height=BAR,
        rx=3,
    )
    for piece in _pieces(tier, names):
        x, wide = 1 + piece.start * length, piece.share * length
        sentence = f"{isolated(tier.tier)}, {isolated(piece.name)}: {share(piece.share)}"
        shape = _sample(x, top, wide, BAR)
        yield group(_color(piece.number), shape, title=sentence)
        label = str(piece.number) if piece.number else "…"
        if wide >= width_of(label) + 4:
            yield text(x + wide / 2, top + 19, label, anchor="middle")


def _color(place: int) -> dict[str, str]:
    return colored(place - 1) if place else {"class": "others"}


def _sample(x: float, y: float, width: float, height: float) -> Element:
    """Return the shape of a piece, in a bar and in the key."""
    return element(
        "rect",
        class_="piece",
        fill="currentColor",
        fill_opacity="0.22",
        stroke="currentColor",
        stroke_width="1.25",
        x=x,
        y=y,
        width=width,
        height=height,
    )


def _columns(width: int) -> int:
    return 2 if width >= 560 else 1


def _key_rows(budgets: Budgets, names: Sequence[str], width: int) -> int:
    entries = len(names) + (len(_by_size(budgets)) > len(names))
    return -(-entries // _columns(width))


def _key(budgets: Budgets, names: Sequence[str], y: float, width: int) -> Iterator[Element]:
    """Yield the key: the number and name of each query, beside a sample of its piece."""
    entries = [(str(place), name, _color(place)) for place, name in enumerate(names, 1)]
    others = len(_by_size(budgets)) - len(names)
    if others:
        entries.append(("…", f"{counted(others, 'other query', 'other queries')}", _color(0)))
    down, each = _key_rows(budgets, names, width), width / _columns(width)
    for place, (label, name, color) in enumerate(entries):
        column, row = divmod(place, down)
        x, top = column * each, y + row * KEY
        yield group(color, _sample(x + 1, top, 24, 16))
        yield text(x + 13, top + 12, label, anchor="middle")
        yield text(x + 33, top + 12, fitted(name, each - 44))


def _described(budgets: Budgets) -> str:
    bars = "; ".join(
        f"{isolated(tier.tier)}, epsilon {loss(tier.epsilon)}:"
        f" {counted(len(tier.parts), 'query', 'queries')}, {share(tier.left)} left"
        for tier in reversed(budgets.tiers)
    )
    return f"Each tier's {budgets.kind} by query, the most trusted tier first. {bars}."
