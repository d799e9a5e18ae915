"""Page lists: a limit, and a cursor that says where the next page begins.

A cursor is the number of the last row; the API seals it before it leaves the server.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from penstock.errors import InvalidInput

Row = TypeVar("Row")
Item = TypeVar("Item")
DEFAULT_LIMIT = 100
LARGEST_LIMIT = 1000


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Hold one page of a list; ``next_cursor`` is null on the last."""

    items: list[Item]
    next_cursor: str | None


@dataclass(frozen=True)
class Window:
    """Hold the requested part of a list: up to ``limit`` items after number ``after``."""

    limit: int = DEFAULT_LIMIT
    after: int = -1

    @classmethod
    def parse(cls, limit: str | None, cursor: str | None) -> "Window":
        """Read the query string.  Raises ``InvalidInput``; a larger limit is clamped."""
        count = DEFAULT_LIMIT
        if limit is not None:
            # Digits alone: int() also takes signs, spaces, underscores and other scripts.
            count = int(limit[:20]) if limit.isascii() and limit.isdigit() else 0
        if count < 1:
            raise InvalidInput("limit must be a whole number from 1.", pointer="/limit")
        return cls(limit=min(count, LARGEST_LIMIT), after=_decode(cursor))

    def page(
        self,
        rows: Sequence[Row],
        view: Callable[[Row], Item],
        number: Callable[[Row], int],
    ) -> Page[Item]:
        """Make a page of ``rows``, of which the caller fetched ``limit + 1``."""
        shown = rows[: self.limit]
        more = len(rows) > self.limit
        return Page(
            items=[view(row) for row in shown],
            next_cursor=str(number(shown[-1])) if more else None,
        )


def _decode(cursor: str | None) -> int:
    if cursor is None:
        return -1
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 19:
        return int(cursor)
    raise InvalidInput(
        "This server did not issue the cursor; begin again without it.",
        pointer="/cursor",
    )
