"""Do a request that is sent again under the same idempotency key only once.

A key belongs to one user for a day.  The request is stored as an HMAC under the fingerprint key,
since a body may hold counts that a reader of the database could guess and test.  The answer is
stored without values and tokens, with an HMAC that binds it to its request, so that an answer put
into the database by others is never sent.  A request whose worker died before it answered may be
sent again after a minute; by itself it is as safe as one without a key.  Whether a request equals
the first one sent with a key reveals something about that one, so a key is given up after
``MOST_MISMATCHES`` other requests: from then on nothing is compared with it.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlmodel import Session, col, delete, select

from penstock.encryption.secrets import FINGERPRINT
from penstock.errors import Conflict, IntegrityViolation, InvalidInput
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.idempotency import Idempotency
from penstock.services.access.principals import Principal
from penstock.services.context import Server

LIFE = timedelta(days=1)
ABANDONED = timedelta(minutes=1)
LONGEST_KEY = 255
MOST_MISMATCHES = 3
_MAC_BYTES = 32


@dataclass(frozen=True)
class Replay:
    """Hold the answer that a request was given the first time."""

    status: int
    answer: bytes


@dataclass(frozen=True)
class OpenRequest:
    """Hold a request that has to be done, by the row that will store its answer."""

    row: int


def fingerprint(server: Server, *parts: bytes | bytearray) -> bytes:
    """Return the HMACs of a request: 32 bytes under each stored key, the newest first."""
    macs = [
        hmac.new(key, b"idempotency", hashlib.sha256) for key in server.secrets.every(FINGERPRINT)
    ]
    for part in parts:
        for mac in macs:
            mac.update(len(part).to_bytes(8, "big"))
            mac.update(part)
    return b"".join(mac.digest() for mac in macs)


def newest(sent: bytes) -> bytes:
    """Return the part of a ``fingerprint`` that is stored: 32 bytes, under the newest key."""
    return sent[:_MAC_BYTES]


def is_well_formed(key: str) -> bool:
    """Return whether a request's key has the length and the characters that keys may have."""
    return 1 <= len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()


def is_same(kept: bytes, sent: bytes) -> bool:
    """Return True if a ``fingerprint`` matches the stored one, whichever key was newest then."""
    each = (sent[at : at + _MAC_BYTES] for at in range(0, len(sent), _MAC_BYTES))
    return any(hmac.compare_digest(kept, digest) for digest in each)


def open_request(
    server: Server,
    principal: Principal,
    key: str,
    request: bytes,
    wait: Callable[[], bool] = lambda: False,
) -> Replay | OpenRequest:
    """Record a keyed request, or return the answer that it was given before.

    While the first request is in progress ``wait`` decides whether to look again.  Raises
    ``Conflict`` if it returns False, ``InvalidInput`` for a malformed key or one that came with
    another request, and ``IntegrityViolation`` if the stored answer is not the one that was
    given.
    """
    while True:
        replay = _open_request(server, principal, key, request)
        if isinstance(replay, InvalidInput):
            raise replay
        if replay is not None:
            return replay
        if not wait():
            raise Conflict(
                "The first request with this Idempotency-Key is still in progress; repeat the"
                " request in a moment."
            )


def _open_request(
    server: Server, principal: Principal, key: str, request: bytes
) -> Replay | OpenRequest | InvalidInput | None:
    """Return the result of ``open_request``, a counted refusal, or None while the first runs."""
    if not is_well_formed(key):
        raise InvalidInput(
            f"Idempotency-Key must have 1 to {LONGEST_KEY} printable ASCII characters.",
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
        return OpenRequest(required(row.id))


def _is_same(row: Idempotency, request: bytes) -> bool:
    """Return True if the key came with ``request``; never after too many mismatches."""
    if (row.mismatches or 0) >= MOST_MISMATCHES:
        return False
    return is_same(row.request, request)


def finish(server: Server, begun: OpenRequest, status: int, answer: bytes) -> None:
    """Store the answer, which holds neither values nor a token."""
    with server.database.write(need=Need.RELIEF) as session:
        row = session.get(Idempotency, begun.row)
        if row is not None:
            row.status, row.answer = status, newest(_macs(server, row, status, answer)) + answer
            session.add(row)


def give_up(server: Server, begun: OpenRequest) -> None:
    """Delete a refused request: sent again, it is processed again."""
    with server.database.write(need=Need.RELIEF) as session:
        session.exec(delete(Idempotency).where(col(Idempotency.id) == begun.row))


def _macs(server: Server, row: Idempotency, status: int, answer: bytes) -> bytes:
    place = f"{row.user_id} {status} {row.key}".encode()
    return fingerprint(server, b"answer", place, row.request, answer)


def _authentic(server: Server, row: Idempotency, status: int, kept: bytes) -> bytes:
    mac, answer = kept[:_MAC_BYTES], kept[_MAC_BYTES:]
    if not is_same(mac, _macs(server, row, status, answer)):
        raise IntegrityViolation(
            "The answer stored for this Idempotency-Key does not authenticate. Check whether"
            " the request was done, then send it with a new key."
        )
    return answer


def _stored_request(session: Session, principal: Principal, key: str) -> Idempotency | None:
    return session.exec(
        select(Idempotency).where(
            col(Idempotency.user_id) == principal.user_id, col(Idempotency.key) == key
        )
    ).first()
