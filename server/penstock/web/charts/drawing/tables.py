"""Build the tables of charts that show one interval per key and level."""

from ....figures import percent
from .numbers import digits_of
from .values import Level, Table


def elsewhere(given: int, total: int) -> str:
    """Return where to find what a chart leaves out, if its table has ``given`` of ``total``."""
    return "the table has all" if given >= total else f"the table has {given:,} of them"


def level_table(
    title: str, what: str, keys: tuple[str, ...], levels: tuple[Level, ...], confidence: float
) -> Table:
    """Return a table with one row per key, and a value and interval ends per level."""
    several, at = len(levels) > 1, percent(confidence)
    columns = ("value", f"lower {at}", f"upper {at}")
    head = tuple(
        f"{level.name}: {column}" if several else column for level in levels for column in columns
    )
    digits = [digits_of(level.intervals) for level in levels]
    body = tuple(
        (
            key,
            *(
                written.write(number)
                for level, written in zip(levels, digits, strict=True)
                for interval in (level.intervals[place],)
                for number in (interval.value, interval.lower, interval.upper)
            ),
        )
        for place, key in enumerate(keys)
    )
    return Table(title, (what, *head), body, frozenset(range(1, len(head) + 1)))
