"""Limit how much one user may add to the database by requests.

Each first hand-out stores a leaf, and may store a vector.  The number of tiers' levels is up to the
admins, and these are always released; between them there are as many more as a query was registered
for, which one user could have drawn within minutes.  So each user has an allowance for a day, in
levels and in bytes. The number of valid tokens is limited, but each revoked token keeps its row and
its leaves.  So there is an allowance for tokens that users create for themselves, too.

A user's own hand-outs of the last 24 hours count, whether they were drawn for that user or not, so
a refusal depends neither on data nor on what others were given.

Counting them all for each hand-out would take longer than the hand-out.  So a worker adds those of
later numbers to what it counted before, which is never too little.  Where that leaves no room, all
are counted again: nobody is refused by a sum.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, FromClause, bindparam, case, exists
from sqlmodel import Session, col, func, select

from penstock.errors import QuotaUsedUp
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Token
from penstock.persistence.tables.queries import Grant, Query, QueryLevel, Release
from penstock.services.context import Server

DAY = timedelta(days=1)
RANGES = 10
"""The number of ranges of streams that count as one level: each is one leaf."""

_LENGTH = func.length(Release.ciphertext)
# A row with a manifest has less than its values take, which are in chunks elsewhere.
_SIZE = case((8 * col(Query.dimension) > _LENGTH, 8 * col(Query.dimension)), else_=_LENGTH)
_HANDED = (
    select(
        func.count(col(Grant.id)).label("levels"),
        func.coalesce(func.sum(_SIZE), 0).label("size"),
        func.min(col(Grant.at)).label("first"),
        func.max(col(Grant.id)).label("last"),
    )
    .select_from(Grant)
    .join(Release, col(Grant.release_id) == col(Release.id))
    .join(Query, col(Release.query_id) == col(Query.id))
    .where(
        col(Grant.user_id) == bindparam("user_id"),
        col(Grant.at) > bindparam("since"),
        col(Grant.id) > bindparam("after"),
        ~exists().where(
            col(QueryLevel.query_id) == col(Release.query_id),
            col(QueryLevel.rung) == col(Release.rung),
        ),
    )
)
"""Only levels that no tier was ever given count: tiers' levels are up to the admins."""

UNLIMITED = 1 << 62

TOKENS = 4
"""The number of tokens that users may create in a day, for each that may be valid."""

_RANGES = select(func.count(col(Leaf.id)), func.min(col(Leaf.at))).where(
    col(Leaf.kind) == "stream",
    col(Leaf.user) == bindparam("user"),
    col(Leaf.at) > bindparam("since"),
)


@dataclass(frozen=True)
class Counted:
    """Hold at least what a user was handed after ``since`` by grants up to the number ``last``."""

    since: datetime
    last: int = 0
    levels: int = 0
    size: int = 0

    def parameters(self, server: Server) -> dict[str, Any]:
        """Return what ``handed`` is to count beyond it, and the most of it that leaves room."""
        settings = server.settings
        return {
            "since": self.since,
            "after": self.last,
            "most_levels": (settings.levels_per_day or UNLIMITED) - self.levels,
            "most_bytes": (settings.level_bytes_per_day or UNLIMITED) - self.size,
        }

    def leaves_room(self, server: Server) -> bool:
        """Return True if it is less than the most of a day."""
        settings = server.settings
        return self.levels < (settings.levels_per_day or UNLIMITED) and self.size < (
            settings.level_bytes_per_day or UNLIMITED
        )

    def with_later(self, levels: int, size: int, last: int | None) -> "Counted":
        """Return it with what was counted beyond it."""
        return Counted(self.since, last or self.last, self.levels + levels, self.size + size)


def counted(server: Server, dialect: str, user_id: int) -> Counted:
    """Return what this worker counted of the last 24 hours of a user, at a time now.

    Nothing on PostgreSQL, where a grant may become visible after one with a later number; and
    nothing if it leaves no room, or if the clock was set back.
    """
    since = server.clock() - DAY
    known: Counted | None = server.counted.get(user_id)
    if dialect != "sqlite" or known is None or since < known.since or not known.leaves_room(server):
        return Counted(since)
    return replace(known, since=since)


def require_level(session: Session, server: Server, user_id: int) -> None:
    """Raise ``QuotaUsedUp`` if a user was handed the most of a day."""
    since = server.clock() - DAY
    place = {"user_id": user_id, "since": since, "after": 0}
    levels, size, first, _ = session.exec(_HANDED, params=place).one()
    refuse_level(server, levels, size, first)


def handed(others: ColumnElement[int]) -> FromClause:
    """Return a part of a statement: the ``levels`` handed to a user, their ``size`` and ``first``.

    ``last`` is the greatest number of their grants, and ``others`` one more of its columns.  The
    statement's parameters are ``user_id``, ``since`` and ``after``: the number of a grant, from
    which on later ones count.
    """
    return _HANDED.add_columns(others.label("others")).subquery("handed")


def refuse_level(server: Server, levels: int, size: int, first: datetime | None) -> None:
    """Raise ``QuotaUsedUp`` if one user's ``levels`` or their ``size`` are the most of a day."""
    now, settings = server.clock(), server.settings
    if first is None:
        return
    if settings.levels_per_day and levels >= settings.levels_per_day:
        raise _refusal(
            f"{levels:,} levels that no tier has", f"{settings.levels_per_day:,}", first, now
        )
    if settings.level_bytes_per_day and size >= settings.level_bytes_per_day:
        most = f"{settings.level_bytes_per_day:,}"
        raise _refusal(f"Levels of {size:,} bytes that no tier has", most, first, now)


def require_range(session: Session, server: Server, user: str) -> None:
    """Raise ``QuotaUsedUp`` if a user was handed the most ranges of streams of a day."""
    now, most = server.clock(), server.settings.levels_per_day * RANGES
    if most:
        ranges, first = session.exec(_RANGES, params={"user": user, "since": now - DAY}).one()
        if ranges >= most:
            raise _refusal(f"{ranges:,} ranges of streams", f"{most:,}", first, now)


def require_token(session: Session, server: Server, user_id: int) -> None:
    """Raise ``QuotaUsedUp`` if a user was given the most tokens of a day."""
    now, most = server.clock(), server.settings.tokens_per_user * TOKENS
    made, first = session.exec(
        select(func.count(col(Token.id)), func.min(col(Token.created_at))).where(
            col(Token.user_id) == user_id, col(Token.created_at) > now - DAY
        )
    ).one()
    if made >= most:
        raise QuotaUsedUp(
            f"{made:,} tokens were created for you in the last 24 hours, and {most:,} is the limit;"
            f" revoked tokens count as well. Try again in {_wait(first, now):,} seconds, or ask"
            " an admin for a token.",
            retry_after=_wait(first, now),
        )


def _wait(first: datetime, now: datetime) -> int:
    return max(1, math.ceil((first + DAY - now).total_seconds()))


def _refusal(handed: str, most: str, first: datetime, now: datetime) -> QuotaUsedUp:
    wait = _wait(first, now)
    return QuotaUsedUp(
        f"{handed} were handed to you in the last 24 hours, and {most} is the limit. Releases"
        f" that you hold, and the levels of tiers, are still available; for another one try"
        f" again in {wait:,} seconds, or"
        " ask the operator for a larger allowance.",
        retry_after=wait,
    )
