"""Count what derived columns are made of, wherever a query names them.

A statistic is spelled with the whole expression wherever it names a derived column, so that a short
spec may say very much.  It is counted before any of it is spelled.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from penstock.connectors.formulas.conditions import Condition, Entry, within
from penstock.connectors.formulas.expressions import Expression, parts_of
from penstock.connectors.planning.refusals import pointer
from penstock.errors import InvalidInput

LARGEST: Final = 1_000
"""The most parts and compared values of one derived column."""

LARGEST_USED: Final = 10_000
"""The most of them in all conditions together that name derived columns."""


def size_of(expression: Expression) -> int:
    """Return how many parts an expression has, each value of a list in it counted too."""
    size = 0
    waiting: list[object] = [expression]
    while waiting:
        part = waiting.pop()
        listed = part.value if isinstance(part, Condition) else None
        size += len(listed) if isinstance(listed, tuple) else 1
        waiting += parts_of(part)
    return size


def names_of(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the column of each comparison of conditions."""
    waiting: list[object] = list(entries)
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, Condition):
            yield entry.column
        waiting += within(entry)


def require_each_small(derived: Mapping[str, Expression]) -> None:
    """Raise ``InvalidInput`` for a derived column that is too large."""
    for name, expression in derived.items():
        size = size_of(expression)
        if size > LARGEST:
            raise InvalidInput(
                f"This derived column has {size} parts, counting each value that is compared with,"
                f" and at most {LARGEST} are taken. Compute the column in a view.",
                pointer=pointer("derived", name),
            )


def require_few_uses(derived: Mapping[str, Expression], where: Iterable[Entry]) -> None:
    """Raise ``InvalidInput`` if conditions name derived columns that are too large, too often."""
    sizes = {name: size_of(expression) for name, expression in derived.items()}
    counts = Counter(name for name in names_of(where) if name in sizes)
    whole = sum(sizes[name] * count for name, count in counts.items())
    if whole > LARGEST_USED:
        largest = max(counts, key=lambda name: sizes[name] * counts[name])
        raise InvalidInput(
            f"The conditions name derived columns {counts.total()} times, with {whole} parts in"
            f" all, and at most {LARGEST_USED} are taken. This one has {sizes[largest]} parts and"
            f" is named {counts[largest]} times. Join its comparisons in one list, or compute it in"
            " a view.",
            pointer=pointer("derived", largest),
        )
