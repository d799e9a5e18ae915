"""Count what is new in the audit log since an auditor looked at it last, by kind.

When that was, the caller says: it is the size that the log had then.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sqlmodel import col, func, select

from penstock.errors import NotFound
from penstock.persistence.tables.log import Leaf
from penstock.services.access.principals import Principal
from penstock.services.audit import cosigners, proof_status
from penstock.services.audit.proof_status import ProofStatusView
from penstock.services.context import Server
from penstock.transparency_log.leaves import KINDS
from penstock.transparency_log.views import CheckpointView

MOST: Final = 10_000
"""The newest leaves that are counted by kind."""


@dataclass(frozen=True)
class LogNewsView:
    """Hold how many leaves of each kind the log has after its first ``seen`` ones.

    ``size`` is how many it has; ``kinds`` counts at most ``counted`` of the ``new`` ones, the
    newest.  ``lost`` is how many fewer it has than were seen, which a log that only grows has not.
    """

    size: int
    seen: int
    new: int
    counted: int
    lost: int
    kinds: dict[str, int]


@dataclass(frozen=True)
class LogHealthView:
    """Hold the state of the log, and the newest checkpoint that every cosigner signed.

    ``cosigned`` is None if none has, or if there are no ``cosigners``.
    """

    status: ProofStatusView
    cosigners: int
    cosigned: CheckpointView | None


def since(server: Server, principal: Principal, seen: int) -> LogNewsView:
    """Count the leaves after the first ``seen`` ones.  Raises ``Forbidden``."""
    principal.require("auditor")
    with server.database.read() as session:
        last = session.exec(select(func.max(col(Leaf.index)))).one()
        size = 0 if last is None else last + 1
        start = max(seen, size - MOST)
        rows = session.exec(
            select(Leaf.kind, func.count())
            .where(col(Leaf.index) >= start, col(Leaf.index) < size)
            .group_by(col(Leaf.kind))
        ).all()
    counts = dict(rows)
    return LogNewsView(
        size=size,
        seen=seen,
        new=max(size - seen, 0),
        counted=max(size - start, 0),
        lost=max(seen - size, 0),
        kinds={kind: counts[kind] for kind in KINDS if kind in counts},
    )


def health(server: Server, principal: Principal) -> LogHealthView:
    """Return the state of the log, of which nothing is recomputed.  Raises ``Forbidden``."""
    status, cosigned = proof_status.status(server, principal), None
    count = len(cosigners.configured(server.settings))
    if count and status.sound:
        with suppress(NotFound):
            cosigned = cosigners.checkpoint(server, count)
    return LogHealthView(status, count, cosigned)
