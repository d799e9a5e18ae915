"""Sessions of the pages: begun with a token, looked up anew for every request, ended at once.

A browser holds a secret of 256 bits, the database an HMAC of it under the server's pepper.
A session carries no rights of its own: at every request it is worth what its token and its
user are worth then, so that revoking the one, or disabling or changing the other, acts at
once.  It ends by itself after a time without requests, after a time in all, and with its
token.  Begun with a token of an OpenID provider it ends with that one, which nobody but the
provider can revoke, and never has a role that the token did not carry.

Nothing of this is in the log or a draw, so the witness need not be asked: whoever was
signed in when a database was put back to an older state may still read.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from penstock.errors import NotAuthenticated
from penstock.persistence import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Token, User, WebSession
from penstock.services.access.principals import Principal, authenticate, is_valid, limited
from penstock.services.access.token_format import prefix_of, well_formed
from penstock.services.context import Server

MOST = 64
"""Sessions that a user may have at once; where one more begins, the oldest ends."""

NOTED = 10
"""A session is noted as seen once in so many parts of the time that it may be idle."""

_BY_DIGEST = (
    select(WebSession, User, Token)
    .join(User, col(WebSession.user_id) == col(User.id))
    .outerjoin(Token, col(WebSession.token_id) == col(Token.id))
    .where(col(WebSession.digest) == bindparam("digest"))
)


@dataclass(frozen=True)
class Begun:
    """A new session: the secret that the browser keeps, who it is of, and its end."""

    secret: str
    principal: Principal
    ends: datetime


def begin(server: Server, token: str, former: str = "") -> Begun:
    """Sign in with a token, and end the session ``former`` that the browser had before.

    Raises ``NotAuthenticated`` and ``IdentityUnavailable`` as ``authenticate`` does.
    """
    principal = authenticate(server, token)
    now = server.clock()
    ends = now + timedelta(hours=server.settings.session_hours)
    if principal.token_expires is not None:
        ends = min(ends, principal.token_expires)
    secret = secrets.token_urlsafe(32)
    with server.database.write_own_rows(need=Need.LITTLE) as session:
        _forget(session, server, former, now)
        _end_oldest(session, required(principal.user_id))
        issued = well_formed(token)
        session.add(
            WebSession(
                digest=_digests(server, secret)[0],
                user_id=required(principal.user_id),
                token_id=_token(session, token) if issued else None,
                scopes="" if issued else ",".join(sorted(principal.roles)) or "none",
                started_at=now,
                seen_at=now,
                expires_at=ends,
            )
        )
    return Begun(secret, principal, ends)


def resume(server: Server, secret: str) -> Principal:
    """Who is signed in by this secret.

    Raises ``NotAuthenticated``, with one text for a session that was never begun, has
    ended, or is of somebody who may not sign in any more.
    """
    with server.database.read() as session:
        server.clock.look(session)
        found_rows = (
            session.exec(_BY_DIGEST, params={"digest": digest}).first()
            for digest in _digests(server, secret)
        )
        row = next((candidate for candidate in found_rows if candidate is not None), None)
    now = server.clock()
    if row is None:
        raise _ended()
    stored, user = row[:2]
    token: Token | None = row[2]  # none where the session began without one of ours
    idle = timedelta(minutes=server.settings.session_idle_minutes)
    alive = now < stored.expires_at and now < stored.seen_at + idle and user.disabled_at is None
    if token is not None:
        alive = alive and is_valid(token, now)
    if not alive:
        raise _ended()
    if now >= stored.seen_at + idle / NOTED:
        with server.database.write_own_rows() as session:
            seen = session.get(WebSession, stored.id)
            if seen is not None:  # else it was ended meanwhile
                seen.seen_at = max(seen.seen_at, now)
                session.add(seen)
    scopes = stored.scopes if token is None else token.scopes
    return limited(user, scopes, stored.expires_at, stored.token_id)


def end(server: Server, secret: str) -> None:
    """Sign out.  Once more changes nothing."""
    with server.database.write_own_rows() as session:
        _forget(session, server, secret, server.clock())


def form_key(server: Server, secret: str) -> str:
    """What a form of this session has to carry: known to its own pages and to nobody else."""
    return _form_keys(server, secret)[0]


def is_form_key(server: Server, secret: str, sent: str) -> bool:
    """Whether ``sent`` is what a form of this session carries, also one from before a rotation."""
    known = _form_keys(server, secret)
    matches = [hmac.compare_digest(sent.encode(), key.encode()) for key in known]
    return any(matches)


def _form_keys(server: Server, secret: str) -> list[str]:
    return [mac.hex() for mac in _macs(server, b"penstock form\0", secret)]


def _forget(session: Session, server: Server, secret: str, now: datetime) -> None:
    """Drop a session, and those whose time is over."""
    own = col(WebSession.digest).in_(_digests(server, secret))
    session.exec(delete(WebSession).where(own | (col(WebSession.expires_at) <= now)))


def _end_oldest(session: Session, user_id: int) -> None:
    """Leave room for one more session of a user."""
    own = select(WebSession.id).where(col(WebSession.user_id) == user_id)
    over = session.exec(own.order_by(col(WebSession.id).desc()).offset(MOST - 1)).all()
    if over:
        session.exec(delete(WebSession).where(col(WebSession.id).in_(over)))


def _token(session: Session, token: str) -> int:
    token_id = session.exec(select(Token.id).where(col(Token.prefix) == prefix_of(token))).one()
    return required(token_id)


def _digests(server: Server, secret: str) -> list[bytes]:
    """What the database has of a session: the first where it begins now, else any of them."""
    return _macs(server, b"penstock session\0", secret)


def _macs(server: Server, label: bytes, secret: str) -> list[bytes]:
    """HMACs under every pepper, that of the newest first."""
    text, peppers = label + secret.encode(errors="replace"), server.stored.now.peppers
    return [
        hmac.digest(peppers[number], text, hashlib.sha256)
        for number in sorted(peppers, reverse=True)
    ]


def _ended() -> NotAuthenticated:
    return NotAuthenticated("The session has ended; sign in again.")
