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
MOST_NAMED = 8
"""The largest spenders of each tier that are named."""

SLACK = 1e-6
NONE = "No tier has a budget here yet."
NOTHING_SPENT = "Nothing has been spent."
OTHERS = "all others"
REST = "the rest"


@dataclass(frozen=True)
class Part:
    """Represent the share of a budget that one query takes, from 0 to 1."""

    query: str
    share: float


@dataclass(frozen=True)
class TierBudget:
    """Hold a tier's budget and the shares of it that were spent.

    ``rest`` is the share that was spent on what has no name here.
    """

    tier: str
    epsilon: float
    parts: tuple[Part, ...] = ()
    rest: float = 0.0

    @property
    def left(self) -> float:
        """Return the share of the budget that is not spent."""
        return max(0.0, 1.0 - self.rest - sum(part.share for part in self.parts))


@dataclass(frozen=True)
class Budgets:
    """Hold the budgets of a dataset, the most private tier first; ``kind`` is what they are.

    The queries in ``named`` are named whatever they spent.
    """

    title: str
    tiers: tuple[TierBudget, ...]
    kind: str = "budget"
    named: tuple[str, ...] = ()


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
    key = list(_key(budgets, names, y + 4, width))
    parts += key or [text(0, y + 12, NOTHING_SPENT, kind=QUIET)]
    height = y + 8 + (KEY * _key_rows(budgets, names, width) if key else 18)
    return document(prefix, budgets.title, _described(budgets), (width, height), parts)


def rows(budgets: Budgets) -> Table:
    """Return the same numbers: one row per named query, one column per tier.

    What is spent on all others, and what is left, are in the last rows.
    """
    _checked(budgets)
    queries = _names(budgets)
    tiers = tuple(reversed(budgets.tiers))
    head = ("query", *(f"{tier.tier} (ε {loss(tier.epsilon)})" for tier in tiers))
    body = [(query, *(share(_share(tier, query)) for tier in tiers)) for query in queries]
    others = [_others(tier, queries) for tier in tiers]
    if any(others):
        body.append((_called(budgets, queries), *map(share, others)))
    body.append(("left", *(share(tier.left) for tier in tiers)))
    return Table(budgets.title, head, tuple(body), frozenset(range(1, len(head))))


def _checked(budgets: Budgets) -> None:
    for tier in budgets.tiers:
        finite(tier.epsilon, f"the budget of {tier.tier}")
        total = sum(finite(part.share, f"the share of {part.query}") for part in tier.parts)
        total += finite(tier.rest, f"the rest of {tier.tier}")
        if total > 1 + SLACK or tier.rest < 0 or any(part.share < 0 for part in tier.parts):
            smallest = min((part.share for part in tier.parts), default=tier.rest)
            raise NotDrawable(
                f"Shares of a budget must be 0 or more and add up to at most 1, but the smallest"
                f" share of {tier.tier} is {smallest:g} and all"
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
    """Return the queries that the key names, in its order: the largest spenders of each tier.

    All others share one piece.
    """
    large = set(budgets.named)
    for tier in budgets.tiers:
        spent = sorted(tier.parts, key=lambda part: (-part.share, part.query))
        large |= {part.query for part in spent[:MOST_NAMED] if part.share > 0}
    return [query for query in _by_size(budgets) if query in large]


def _others(tier: TierBudget, names: Sequence[str]) -> float:
    """Return the share that was spent on what the key does not name."""
    named = set(names)
    return tier.rest + sum(part.share for part in tier.parts if part.query not in named)


def _called(budgets: Budgets, names: Sequence[str]) -> str:
    """Return what the piece of all others is called in the key."""
    others = len(_by_size(budgets)) - len(names)
    if any(tier.rest for tier in budgets.tiers) or not others:
        return REST
    return counted(others, "other query", "other queries")


def _pieces(tier: TierBudget, names: Sequence[str]) -> Iterator[Piece]:
    shares = [_share(tier, name) for name in names]
    others = _others(tier, names)
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
    entries = len(names) + any(_others(tier, names) for tier in budgets.tiers)
    return -(-entries // _columns(width))


def _key(budgets: Budgets, names: Sequence[str], y: float, width: int) -> Iterator[Element]:
    """Yield the key: the number and name of each query, beside a sample of its piece."""
    entries = [(str(place), name, _color(place)) for place, name in enumerate(names, 1)]
    if any(_others(tier, names) for tier in budgets.tiers):
        entries.append(("…", _called(budgets, names), _color(0)))
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
