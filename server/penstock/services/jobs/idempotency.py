"""Idempotency keys: a request that is sent again is not done again.

A key belongs to one user for a day.  What was sent is kept as an HMAC under the
fingerprint key, since a body may hold counts that somebody could try out; what was
answered is kept without values and tokens, behind an HMAC that binds it to its request, so
that nobody is answered what was put into the database.  A request whose worker died before it was
answered may be sent again after a minute; by itself it is as safe as one without a key.
Whether a request is the one that a key came with is an answer about it, so that a key is given
up after ``MOST_MISMATCHES`` others: from then on nothing is compared with it.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlmodel import Session, col, delete, select

from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import Conflict, IntegrityViolation, InvalidInput
from penstock.persistence import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Idempotency
from penstock.services.access.principals import Principal
from penstock.services.context import Server

LIFE = timedelta(days=1)
ABANDONED = timedelta(minutes=1)
LONGEST_KEY = 255
MOST_MISMATCHES = 3
_MAC_BYTES = 32


@dataclass(frozen=True)
class Replay:
    """What a request was answered the first time."""

    status: int
    answer: bytes


@dataclass(frozen=True)
class Begun:
    """A request that has to be done, and the row that will hold its answer."""

    row: int


def fingerprint(server: Server, *parts: bytes | bytearray) -> bytes:
    """The keyed hashes of what was sent: 32 bytes under each key that is kept, the newest first."""
    macs = [
        hmac.new(key, b"idempotency", hashlib.sha256) for key in server.secrets.every(FINGERPRINT)
    ]
    for part in parts:
        for mac in macs:
            mac.update(len(part).to_bytes(8, "big"))
            mac.update(part)
    return b"".join(mac.digest() for mac in macs)


def newest(sent: bytes) -> bytes:
    """What is kept of a ``fingerprint``: 32 bytes, under the newest key."""
    return sent[:_MAC_BYTES]


def is_same(kept: bytes, sent: bytes) -> bool:
    """Whether a ``fingerprint`` is of what was kept, whichever key was the newest then."""
    each = (sent[at : at + _MAC_BYTES] for at in range(0, len(sent), _MAC_BYTES))
    return any(hmac.compare_digest(kept, digest) for digest in each)


def begin(
    server: Server,
    principal: Principal,
    key: str,
    request: bytes,
    wait: Callable[[], bool] = lambda: False,
) -> Replay | Begun:
    """Note a keyed request, or find what it was answered.

    While the first one is still worked on ``wait`` is asked whether to look again.  Raises
    ``Conflict`` where it is not to, ``InvalidInput`` for a key that is none or that came with
    another request, and ``IntegrityViolation`` where the answer that is kept is not the one
    that was given.
    """
    while True:
        replay = _begin(server, principal, key, request)
        if isinstance(replay, InvalidInput):
            raise replay
        if replay is not None:
            return replay
        if not wait():
            raise Conflict(
                "The first request with this Idempotency-Key is still being worked on;"
                " ask again in a moment."
            )


def _begin(
    server: Server, principal: Principal, key: str, request: bytes
) -> Replay | Begun | InvalidInput | None:
    """What ``begin`` answers, a refusal that was counted, or ``None`` while it is worked on."""
    if not 1 <= len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise InvalidInput(
            f"Idempotency-Key has 1 to {LONGEST_KEY} printable ASCII characters.",
            pointer="/Idempotency-Key",
        )
    now = server.clock()
    with server.database.write(need=Need.LITTLE) as session:
        session.exec(delete(Idempotency).where(col(Idempotency.expires_at) <= now))
        row = _stored_request(session, principal, key)
        if row is not None and not _is_same(row, request):
            row.mismatches = min((row.mismatches or 0) + 1, MOST_MISMATCHES)
            session.add(row)
            return InvalidInput(
                "This Idempotency-Key came with another request before; take a new key.",
                pointer="/Idempotency-Key",
            )
        if row is not None and row.status is not None and row.answer is not None:
            return Replay(row.status, _authentic(server, row, row.status, row.answer))
        if row is not None and row.started_at > now - ABANDONED:
            return None
        if row is None:
            row = Idempotency(
                user_id=required(principal.user_id),
                key=key,
                request=newest(request),
                started_at=now,
                expires_at=now + LIFE,
            )
        row.started_at = now
        session.add(row)
        session.flush()
        return Begun(required(row.id))


def _is_same(row: Idempotency, request: bytes) -> bool:
    """Whether the key came with ``request``; never, after too many that were others."""
    if (row.mismatches or 0) >= MOST_MISMATCHES:
        return False
    return is_same(row.request, request)


def finish(server: Server, begun: Begun, status: int, answer: bytes) -> None:
    """Keep the answer, which holds neither values nor a token."""
    with server.database.write(need=Need.RELIEF) as session:
        row = session.get(Idempotency, begun.row)
        if row is not None:
            row.status, row.answer = status, newest(_macs(server, row, status, answer)) + answer
            session.add(row)


def give_up(server: Server, begun: Begun) -> None:
    """Forget a request that was refused: sent again, it is looked at again."""
    with server.database.write(need=Need.RELIEF) as session:
        session.exec(delete(Idempotency).where(col(Idempotency.id) == begun.row))


def _macs(server: Server, row: Idempotency, status: int, answer: bytes) -> bytes:
    place = f"{row.user_id} {status} {row.key}".encode()
    return fingerprint(server, b"answer", place, row.request, answer)


def _authentic(server: Server, row: Idempotency, status: int, kept: bytes) -> bytes:
    mac, answer = kept[:_MAC_BYTES], kept[_MAC_BYTES:]
    if not is_same(mac, _macs(server, row, status, answer)):
        raise IntegrityViolation(
            "The answer that is kept for this Idempotency-Key does not authenticate; take a"
            " new key, and look first whether the request was done."
        )
    return answer


def _stored_request(session: Session, principal: Principal, key: str) -> Idempotency | None:
    return session.exec(
        select(Idempotency).where(
            col(Idempotency.user_id) == principal.user_id, col(Idempotency.key) == key
        )
    ).first()
