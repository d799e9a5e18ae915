"""Hold the tables of one subject to the leaves that tell of it.

Whoever writes leaves of a subject keeps the two halves in one file: functions that append them,
and a ``LoggedSubject`` that reads them back.  A new kind of leaf is read where it is written.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sqlmodel import Session

from penstock.persistence.tables import Dataset, Query, Tier, User
from penstock.transparency_log.sights import Sight

LeafFields = Mapping[str, Any]
"""A leaf's fields, as its JSON has them."""

Versions = dict[tuple[str, ...], list[object]]
"""The values that something has had, oldest first, by the names that identify it."""


class LoggedSubject(Protocol):
    """Take in leaves in the log's order, then compare the tables with what they say."""

    def take(self, leaf: LeafFields) -> None:
        """Take in one leaf; those of other subjects change nothing.

        Raises ``KeyError``, ``TypeError`` or ``ValueError`` for one that no server wrote.
        """

    def differences(self, session: Session, seen: Sight, /) -> Iterator[str]:
        """Yield one message per disagreement; ``seen`` is what the witness kept."""


def versions() -> Versions:
    """Return versions of nothing yet."""
    return defaultdict(list)


def ascending(numbered: Sequence[tuple[object, int]]) -> bool:
    """Return True if later rows of the same key have higher version numbers."""
    last: dict[object, int] = {}
    for key, number in numbered:
        if number <= last.get(key, 0):
            return False
        last[key] = number
    return True


def name_of(row: Tier | User | Dataset | Query | None) -> str:
    """Return a row's name, or the empty string where the row is missing."""
    return row.name if row else ""
