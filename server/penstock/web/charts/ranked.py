"""Draw the keys of a sparse histogram, the largest value first."""

from collections.abc import Iterator
from dataclasses import dataclass

from .drawing.lettering import wrapped
from .drawing.marks import chosen
from .drawing.numbers import counted, digits_of
from .drawing.svg import NARROW, NOTE, document, isolated, note, nothing
from .drawing.tables import elsewhere, level_table
from .drawing.values import Interval, Level, Table, of_one_length
from .lines import LINE, TOP, Line, caption, columns_for, cropped, drawn, scale

MOST_LINES = 40
NONE = "No key has been released."


@dataclass(frozen=True)
class Ranking:
    """Hold the keys that were released at one level, in any order, with their intervals.

    ``remark`` is a note under the chart, such as one about keys that are not in it.
    ``total`` is the number of all keys if these are only the largest of more.
    """

    title: str
    keys: tuple[str, ...]
    level: Level
    quantity: str = ""
    remark: str = ""
    confidence: float = 0.95
    total: int = 0

    @property
    def count(self) -> int:
        """Return the number of all released keys."""
        return max(self.total, len(self.keys))


def ranked_list(ranking: Ranking, prefix: str, width: int = NARROW) -> str:
    """Return the chart of the ``MOST_LINES`` largest keys; a note says how many are left out.

    Raises ``NotDrawable`` if there is not one interval for each key.
    """
    ranked = _ranked(ranking)
    if not ranked:
        return nothing(prefix, ranking.title, ranking.remark or NONE, width)
    digits = digits_of(ranking.level.intervals)
    style = chosen([ranking.level.place])[0]
    lines = [
        Line(f"{place}. {key}", interval, digits, style)
        for place, (key, interval) in enumerate(ranked[:MOST_LINES], 1)
    ]
    columns = columns_for(lines, width)
    bottom = TOP + LINE * len(lines)
    parts = [caption(ranking.confidence, ranking.quantity, width)]
    parts += scale(columns.axis, [(TOP, bottom)])
    for place, (line, (key, _)) in enumerate(zip(lines, ranked, strict=False)):
        parts += drawn(line, columns, TOP + LINE * (place + 0.5), line.sentence(key))
    notes = list(_notes(ranking, cropped(columns.axis)))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    parts += note(bottom + NOTE + 4, under)
    height = bottom + NOTE * len(under) + (10 if under else 2)
    largest = lines[0].sentence(ranked[0][0])
    described = f"{counted(ranking.count, 'key')} at {isolated(ranking.level.name)}; the largest is"
    summary = " ".join((f"{described} {largest}.", *notes))
    return document(prefix, ranking.title, summary, (width, height), parts)


def rows(ranking: Ranking) -> Table:
    """Return the same numbers: one row per key, the largest value first."""
    ranked = _ranked(ranking)
    level = Level(ranking.level.name, tuple(interval for _, interval in ranked))
    keys = tuple(key for key, _ in ranked)
    return level_table(ranking.title, "key", keys, (level,), ranking.confidence)


def _ranked(ranking: Ranking) -> list[tuple[str, Interval]]:
    of_one_length(ranking.keys, (ranking.level,), "keys")
    pairs = zip(ranking.keys, ranking.level.intervals, strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1].value, pair[0]))


def _notes(ranking: Ranking, warning: str) -> Iterator[str]:
    if warning:
        yield warning
    shown = min(len(ranking.keys), MOST_LINES)
    if left := ranking.count - shown:
        yield (
            f"The {shown:,} largest of {ranking.count:,} keys; {left:,}"
            f" {'is' if left == 1 else 'are'} not shown here,"
            f" {elsewhere(len(ranking.keys), ranking.count)}."
        )
    if ranking.remark:
        yield ranking.remark
