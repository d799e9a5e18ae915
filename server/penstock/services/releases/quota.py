"""Limit how much one person may add to the database by requests.

Each first hand-out stores a leaf, and may store a vector.  Levels that tiers are registered at
are as many as admins have made, and are always given; between them lies a ladder of as many more
as a query was registered for, which one person could have drawn within minutes.  So each has an
allowance of a day, in levels and in bytes.

Of tokens only so many are valid at a time, but each that was revoked keeps its row and its
leaves.  So there is an allowance of those that people make for themselves, too.

What counts is what the asker themselves was handed in the last 24 hours, drawn for them or not,
so that a refusal depends neither on data nor on what others were given.
"""

import math
from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists
from sqlmodel import Session, col, func, select

from penstock.errors import QuotaUsedUp
from penstock.persistence.tables import Grant, Leaf, QueryLevel, Release, Token
from penstock.services.context import Server

DAY = timedelta(days=1)
RANGES = 10
"""How many ranges of streams may be asked for in the place of one level: each is one leaf."""

_HANDED = (
    select(
        func.count(col(Grant.id)),
        func.coalesce(func.sum(func.length(Release.ciphertext)), 0),
        func.min(col(Grant.at)),
    )
    .select_from(Grant)
    .join(Release, col(Grant.release_id) == col(Release.id))
    .where(
        col(Grant.user_id) == bindparam("user_id"),
        col(Grant.at) > bindparam("since"),
        ~exists().where(
            col(QueryLevel.query_id) == col(Release.query_id),
            col(QueryLevel.rung) == col(Release.rung),
        ),
    )
)
"""Of levels that no tier was ever given: those of tiers are as many as admins have made."""

TOKENS = 4
"""How many tokens people may make for themselves in a day, for each that may be valid at once."""

_RANGES = select(func.count(col(Leaf.id)), func.min(col(Leaf.at))).where(
    col(Leaf.kind) == "stream",
    col(Leaf.user) == bindparam("user"),
    col(Leaf.at) > bindparam("since"),
)


def require_level(session: Session, server: Server, user_id: int) -> None:
    """Raise ``QuotaUsedUp`` where a user was handed as much in a day as anybody may be."""
    now, settings = server.clock(), server.settings
    handed = session.exec(_HANDED, params={"user_id": user_id, "since": now - DAY}).one()
    levels, size, first = handed
    if settings.levels_per_day and levels >= settings.levels_per_day:
        raise _refusal(
            f"{levels:,} levels that no tier has", f"{settings.levels_per_day:,}", first, now
        )
    if settings.level_bytes_per_day and size >= settings.level_bytes_per_day:
        most = f"{settings.level_bytes_per_day:,}"
        raise _refusal(f"Levels of {size:,} bytes that no tier has", most, first, now)


def require_range(session: Session, server: Server, user: str) -> None:
    """Raise ``QuotaUsedUp`` where a user was handed as many ranges of streams as may be."""
    now, most = server.clock(), server.settings.levels_per_day * RANGES
    if most:
        ranges, first = session.exec(_RANGES, params={"user": user, "since": now - DAY}).one()
        if ranges >= most:
            raise _refusal(f"{ranges:,} ranges of streams", f"{most:,}", first, now)


def require_token(session: Session, server: Server, user_id: int) -> None:
    """Raise ``QuotaUsedUp`` where a user was given as many tokens in a day as they may make."""
    now, most = server.clock(), server.settings.tokens_per_user * TOKENS
    made, first = session.exec(
        select(func.count(col(Token.id)), func.min(col(Token.created_at))).where(
            col(Token.user_id) == user_id, col(Token.created_at) > now - DAY
        )
    ).one()
    if made >= most:
        raise QuotaUsedUp(
            f"{made:,} tokens were made for you in the last 24 hours, and {most:,} is the most;"
            f" those that were revoked count as well. Ask in {_wait(first, now):,} seconds, or ask"
            " an admin for a token.",
            retry_after=_wait(first, now),
        )


def _wait(first: datetime, now: datetime) -> int:
    return max(1, math.ceil((first + DAY - now).total_seconds()))


def _refusal(handed: str, most: str, first: datetime, now: datetime) -> QuotaUsedUp:
    wait = _wait(first, now)
    return QuotaUsedUp(
        f"{handed} were handed to you in the last 24 hours, and {most} is the most. What you hold,"
        f" and the levels of tiers, are given as ever; for another one ask in {wait:,} seconds, or"
        " ask the operator for a larger allowance.",
        retry_after=wait,
    )
