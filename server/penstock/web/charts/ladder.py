"""Draw tiers as a ladder, the most accurate on top, with the users who hold them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ...errors import NotDrawable
from .drawing.lettering import fitted, width_of
from .drawing.marks import shaded
from .drawing.numbers import counted
from .drawing.svg import (
    NARROW,
    QUIET,
    STRONG,
    document,
    element,
    group,
    isolated,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from .drawing.values import Table

RAIL = 34.0
LEFT = 62.0
CHIP = 24
CHIPS_APART = 6
PADDING = 10
LONGEST_CHIP = 150
MOST_ROWS = 4
HEAD = 26.0
FOOT = 20
BELOW = "↓ more private, for more people"
NONE = "There are no tiers yet."
NOBODY = "nobody"
WITHOUT = "without a tier"


@dataclass(frozen=True)
class Tier:
    """Represent a tier with its description and the users who hold it."""

    name: str
    people: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True)
class Move:
    """Represent a user's move from one tier to another; None means no tier."""

    person: str
    source: str | None
    target: str | None


@dataclass(frozen=True)
class Ladder:
    """Hold tiers, the most private first, and a move to preview."""

    title: str
    tiers: tuple[Tier, ...]
    move: Move | None = None


@dataclass(frozen=True)
class Chip:
    """Represent a name in a frame; ``kind`` is ``stays``, ``leaves``, ``arrives`` or ``more``."""

    name: str
    kind: str

    @property
    def width(self) -> float:
        bold = self.kind == "arrives"
        return min(width_of(self.name, bold=bold), LONGEST_CHIP - 2 * PADDING) + 2 * PADDING


def ladder(content: Ladder, prefix: str, width: int = NARROW) -> str:
    """Return the chart; of many users in a tier it shows some and the number of the others.

    Raises ``NotDrawable`` if the move is from or to a tier that is not in the ladder.
    """
    _checked(content)
    if not content.tiers:
        return nothing(prefix, content.title, NONE, width)
    parts = [text(LEFT, 12, "↑ more accurate, for fewer people", kind=QUIET)]
    y = HEAD
    rungs: list[tuple[float, dict[str, str]]] = []
    places: dict[str, tuple[float, float, dict[str, str]]] = {}
    for place, (key, tier) in enumerate(_rungs(content)):
        color = {"class": "without"} if key is None else shaded(place)
        if key is None:
            parts.append(text(LEFT, y + 16, BELOW, kind=QUIET))
            y += HEAD + 6
        parts += _named(tier, y, width)
        y += HEAD
        for row in _rows_of(_chips(content.move, key, tier), width - LEFT):
            for x, chip in row:
                parts += _chip(chip, LEFT + x, y, color)
                if chip.kind in ("leaves", "arrives"):
                    places[chip.kind] = (LEFT + x, y + CHIP / 2, color)
            y += CHIP + CHIPS_APART
        rungs += [(y + 4, color)] if key is not None else []
        y += FOOT
    parts[1:1] = _rails(rungs, width)
    parts += _arrow(places)
    if _everybody_has_tier(content):
        parts.append(text(LEFT, y + 16, BELOW, kind=QUIET))
        y += 22
    return document(prefix, content.title, _described(content), (width, y + 2), parts)


def rows(content: Ladder) -> Table:
    """Return the same content: tiers, the most accurate first, with users (after the move)."""
    _checked(content)
    move = content.move
    head = ("tier", "people", "who", *(("after the move",) if move else ()))
    body = []
    for key, tier in _rungs(content):
        row = (tier.name, f"{len(tier.people):,}", ", ".join(tier.people) or NOBODY)
        body.append((*row, ", ".join(_after(move, key, tier)) or NOBODY) if move else row)
    return Table(content.title, head, tuple(body), frozenset({1}))


def _rungs(content: Ladder) -> list[tuple[str | None, Tier]]:
    """Return tiers from the top; last, under None, no tier, if the move is to or from none."""
    rungs: list[tuple[str | None, Tier]] = [(tier.name, tier) for tier in reversed(content.tiers)]
    if not _everybody_has_tier(content) and content.move:
        without = (content.move.person,) if content.move.source is None else ()
        rungs.append((None, Tier(WITHOUT, without)))
    return rungs


def _everybody_has_tier(content: Ladder) -> bool:
    return not content.move or None not in (content.move.source, content.move.target)


def _checked(content: Ladder) -> None:
    names = {tier.name for tier in content.tiers} | {None}
    if content.move and not {content.move.source, content.move.target} <= names:
        raise NotDrawable(
            f"{content.move.person} cannot move from {content.move.source} to"
            f" {content.move.target}: this ladder does not have both tiers."
        )


def _after(move: Move, key: str | None, tier: Tier) -> tuple[str, ...]:
    stay = tuple(name for name in tier.people if name != move.person)
    return (*stay, move.person) if key == move.target else stay


def _chips(move: Move | None, key: str | None, tier: Tier) -> list[Chip]:
    """Return a tier's chips; the user who moves comes first, so that a long row shows them."""
    if move is None or move.source == move.target:
        return [Chip(name, "stays") for name in tier.people]
    ends = (("arrives", move.target), ("leaves", move.source))
    kinds = [kind for kind, end in ends if end == key]
    stay = [Chip(name, "stays") for name in tier.people if name != move.person]
    return [*(Chip(move.person, kind) for kind in kinds), *stay]


def _rows_of(chips: Sequence[Chip], room: float) -> list[list[tuple[float, Chip]]]:
    """Return rows of chips with the x of each; a count replaces those beyond the last row."""
    rows: list[list[tuple[float, Chip]]] = [[]]
    x = 0.0
    for place, chip in enumerate(chips):
        last = len(rows) == MOST_ROWS and place < len(chips) - 1
        kept = Chip(f"and {len(chips) - place:,} more", "more").width if last else 0.0
        if rows[-1] and x + chip.width + (kept and kept + CHIPS_APART) > room:
            if len(rows) == MOST_ROWS:
                rows[-1].append((x, Chip(f"and {len(chips) - place:,} more", "more")))
                return rows
            rows.append([])
            x = 0.0
        rows[-1].append((x, chip))
        x += chip.width + CHIPS_APART
    return rows


def _named(tier: Tier, y: float, width: int) -> Iterator[Element]:
    name = fitted(tier.name, width - LEFT, bold=True)
    yield text(LEFT, y + 16, name, kind=STRONG)
    start = LEFT + width_of(name, bold=True) + 10
    count = counted(len(tier.people), "person", "people") if tier.people else NOBODY
    shown = f"{count} · {tier.description}" if tier.description else count
    if width - start > 60:
        yield text(start, y + 16, fitted(shown, width - start), kind=QUIET)


def _chip(chip: Chip, x: float, y: float, color: dict[str, str]) -> Iterator[Element]:
    name = fitted(chip.name, LONGEST_CHIP - 2 * PADDING, bold=chip.kind == "arrives")
    if chip.kind == "more":
        yield text(x + 2, y + 16, chip.name, kind=QUIET)
        return
    stroke = {"stays": "1", "leaves": "1.5", "arrives": "2.5"}[chip.kind]
    dashed = {"stroke-dasharray": "4 3"} if chip.kind == "leaves" else {}
    frame = element(
        "rect",
        class_="chip",
        fill="currentColor",
        fill_opacity="0.08",
        stroke="currentColor",
        stroke_width=stroke,
        x=x,
        y=y,
        width=chip.width,
        height=CHIP,
        rx=CHIP // 2,
        **dashed,
    )
    endings = {"stays": "", "leaves": " would leave this tier", "arrives": " would join this tier"}
    sentence = f"{isolated(chip.name)}{endings[chip.kind]}"
    kind = STRONG if chip.kind == "arrives" else ""
    yield group(color, frame, title=sentence)
    yield text(x + chip.width / 2, y + 16, name, anchor="middle", kind=kind)


def _rails(rungs: Sequence[tuple[float, dict[str, str]]], width: float) -> Iterator[Element]:
    bottom = rungs[-1][0] + FOOT - 6
    for x in (8.0, RAIL):
        way = f"M{number(x)} {number(HEAD)}V{number(bottom)}"
        yield stroked("rail", way, "2", stroke_opacity="0.6")
    for y, color in rungs:
        yield group(color, stroked("rail", f"M8 {number(y)}H{number(RAIL)}", "3"))
        yield rule(RAIL + 1, y, width, y)


def _arrow(places: dict[str, tuple[float, float, dict[str, str]]]) -> Iterator[Element]:
    """Yield the arrow from a user's tier to the one after the move, left of the names."""
    if len(places) < 2:
        return
    (x1, y1, _), (x2, y2, color) = places["leaves"], places["arrives"]
    bend = LEFT - 14
    way = (
        f"M{number(x1 - 3)} {number(y1)}H{number(bend + 6)}"
        f"Q{number(bend)} {number(y1)} {number(bend)} {number(y1 + (6 if y2 > y1 else -6))}"
        f"V{number(y2 - (6 if y2 > y1 else -6))}"
        f"Q{number(bend)} {number(y2)} {number(bend + 6)} {number(y2)}H{number(x2 - 4)}"
        f"m-5 -4l5 4l-5 4"
    )
    yield group(color, stroked("arrow", way, "2"))


def _described(content: Ladder) -> str:
    tiers = "; ".join(
        f"{isolated(tier.name)}: {counted(len(tier.people), 'person', 'people')}"
        for tier in reversed(content.tiers)
    )
    sentence = f"Tiers from the most accurate to the most private: {tiers}."
    if content.move:
        source = isolated(content.move.source) if content.move.source else "no tier"
        target = isolated(content.move.target) if content.move.target else "no tier"
        sentence += f" {isolated(content.move.person)} would move from {source} to {target}."
    return sentence
