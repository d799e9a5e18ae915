"""Compare the tables of one subject with the leaves about it.

A module that writes leaves of a subject holds both halves: functions that append them, and a
``LoggedSubject`` that reads them back.  A new kind of leaf is read in the file that writes it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sqlmodel import Session

from penstock.transparency_log.sights import Sight

if TYPE_CHECKING:
    from penstock.persistence.tables.datasets import Dataset
    from penstock.persistence.tables.people import Tier, User
    from penstock.persistence.tables.queries import Query

LeafFields = Mapping[str, Any]
"""A leaf's fields, as its JSON has them."""

Versions = dict[tuple[str, ...], list[object]]
"""The values that a thing has had, oldest first, by the names that identify it."""


class LoggedSubject(Protocol):
    """Take in leaves in the log's order, then compare the tables with what they say."""

    def take(self, leaf: LeafFields) -> None:
        """Read one leaf; leaves of other subjects change nothing.

        Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a leaf that no server wrote.
        """

    def differences(self, session: Session, seen: Sight, /) -> Iterator[str]:
        """Yield one message for each disagreement; ``seen`` is the witness's record."""


def versions() -> Versions:
    """Return an empty collection of versions."""
    return defaultdict(list)


def ascending(numbered: Sequence[tuple[object, int]]) -> bool:
    """Return True if later rows of the same key have higher version numbers."""
    last: dict[object, int] = {}
    for key, number in numbered:
        if number <= last.get(key, 0):
            return False
        last[key] = number
    return True


def name_of(row: "Tier | User | Dataset | Query | None") -> str:
    """Return a row's name, or an empty string if the row is missing."""
    return row.name if row else ""
