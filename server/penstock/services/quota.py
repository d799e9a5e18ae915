"""How much one person may add to the database by asking for levels of their own choice.

Each first hand-out stores a leaf, and may store a vector.  Levels that tiers are registered at
are as many as admins have made, and are always given; between them lies a ladder of as many more
as a query was registered for, which one person could have drawn within minutes.  So each has an
allowance of a day, in levels and in bytes.

What counts is what the asker themselves was handed in the last 24 hours, drawn for them or not,
so that a refusal depends neither on data nor on what others were given.
"""

import math
from datetime import datetime, timedelta

from sqlalchemy import bindparam
from sqlmodel import Session, col, func, select

from penstock.errors import QuotaUsedUp
from penstock.persistence.tables import Grant, Leaf, Release
from penstock.services.server import Server

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
    .where(col(Grant.user_id) == bindparam("user_id"), col(Grant.at) > bindparam("since"))
)
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
        raise _refusal(f"{levels:,} levels", f"{settings.levels_per_day:,}", first, now)
    if settings.level_bytes_per_day and size >= settings.level_bytes_per_day:
        most = f"{settings.level_bytes_per_day:,}"
        raise _refusal(f"Levels of {size:,} bytes", most, first, now)


def require_range(session: Session, server: Server, user: str) -> None:
    """Raise ``QuotaUsedUp`` where a user was handed as many ranges of streams as may be."""
    now, most = server.clock(), server.settings.levels_per_day * RANGES
    if most:
        ranges, first = session.exec(_RANGES, params={"user": user, "since": now - DAY}).one()
        if ranges >= most:
            raise _refusal(f"{ranges:,} ranges of streams", f"{most:,}", first, now)


def _refusal(handed: str, most: str, first: datetime, now: datetime) -> QuotaUsedUp:
    wait = max(1, math.ceil((first + DAY - now).total_seconds()))
    return QuotaUsedUp(
        f"{handed} were handed to you in the last 24 hours, and {most} is the most. What you hold,"
        f" and the levels of tiers, are given as ever; for another one ask in {wait:,} seconds, or"
        " ask the operator for a larger allowance.",
        retry_after=wait,
    )
