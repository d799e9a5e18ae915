"""Begin, resume and end sessions of the web pages.

A session begins with a token.  The browser holds a secret of 256 bits, the database an HMAC of
it under the server's pepper.  A session carries no rights of its own: its token and its user
are looked up at every request, so that revoking the token, or disabling or changing the user,
takes effect at once.  It ends after a time without requests, after a total time, and with its
token.  If it began with a token of an OpenID provider it ends with that token, which only the
provider can revoke, and never has a role that the token did not carry.  If it began with a sign-in
at the provider it has no token: it ends after those times, or when the provider says so.

Sessions are neither in the log nor part of a draw, so the witness is not consulted: people who
were signed in when a database was restored to an older state may still read.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam
from sqlmodel import Session, col, delete, select

from penstock.errors import NotAuthenticated
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Token, User
from penstock.persistence.tables.sessions import WebSession
from penstock.services.access.principals import Principal, authenticate, is_valid, limited
from penstock.services.access.token_format import prefix_of, well_formed
from penstock.services.context import Server

MOST = 64
"""The sessions that a user may have at once; if one more begins, the oldest ends."""

NOTED = 10
"""The times that a session in use is noted as seen within the time that it may be idle."""

_BY_DIGEST = (
    select(WebSession, User, Token)
    .join(User, col(WebSession.user_id) == col(User.id))
    .outerjoin(Token, col(WebSession.token_id) == col(Token.id))
    .where(col(WebSession.digest) == bindparam("digest"))
)


@dataclass(frozen=True)
class SignedIn:
    """Hold a new session: the secret that the browser keeps, its principal, and its end."""

    secret: str
    principal: Principal
    ends: datetime


def sign_in(server: Server, token: str, former: str = "") -> SignedIn:
    """Sign in with a token, and end the session ``former`` that the browser had before.

    Raises ``NotAuthenticated`` and ``IdentityUnavailable`` as ``authenticate`` does.
    """
    return begin(server, authenticate(server, token), former, token)


def begin(
    server: Server,
    principal: Principal,
    former: str,
    token: str = "",
    subject: bytes | None = None,
    provider_session: bytes | None = None,
) -> SignedIn:
    """Begin a session of somebody who proved who they are, by ``token`` or at the provider.

    ``subject`` and ``provider_session`` are the digests of the account and the session there.
    """
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
                subject=subject,
                provider_session=provider_session,
            )
        )
    return SignedIn(secret, principal, ends)


def resume(server: Server, secret: str) -> Principal:
    """Return the principal who is signed in with this secret.

    Raises ``NotAuthenticated``, with one text for a session that never began, that has ended, or
    that belongs to a user who may not sign in any more.
    """
    with server.database.read() as session:
        server.clock.look(session)
        rows = (
            session.exec(_BY_DIGEST, params={"digest": digest}).first()
            for digest in _digests(server, secret)
        )
        row = next((candidate for candidate in rows if candidate is not None), None)
    now = server.clock()
    if row is None:
        raise _ended()
    stored, user = row[:2]
    token: Token | None = row[2]  # none if the session began with a provider's token
    idle = timedelta(minutes=server.settings.session_idle_minutes)
    alive = now < stored.expires_at and now < stored.seen_at + idle and user.is_active
    if token is not None:
        alive = alive and is_valid(token, now)
    if not alive:
        raise _ended()
    if now >= stored.seen_at + idle / NOTED:
        with server.database.write_own_rows() as session:
            seen = session.get(WebSession, stored.id)
            if seen is not None:  # otherwise it was ended in the meantime
                seen.seen_at = max(seen.seen_at, now)
                session.add(seen)
    scopes = stored.scopes if token is None else token.scopes
    return limited(user, scopes, stored.expires_at, stored.token_id)


def end(server: Server, secret: str) -> None:
    """End a session; ending it again changes nothing."""
    with server.database.write_own_rows() as session:
        _forget(session, server, secret, server.clock())


def form_key(server: Server, secret: str) -> str:
    """Return the key that forms of this session must carry; only its own pages know it."""
    return _form_keys(server, secret)[0]


def is_form_key(server: Server, secret: str, sent: str) -> bool:
    """Return True if ``sent`` is a form key of this session, also one from before a rotation."""
    known = _form_keys(server, secret)
    matches = [hmac.compare_digest(sent.encode(), key.encode()) for key in known]
    return any(matches)


def _form_keys(server: Server, secret: str) -> list[str]:
    return [mac.hex() for mac in _macs(server, b"penstock form\0", secret)]


def _forget(session: Session, server: Server, secret: str, now: datetime) -> None:
    """Delete a session, and those that have ended."""
    own = col(WebSession.digest).in_(_digests(server, secret))
    session.exec(delete(WebSession).where(own | (col(WebSession.expires_at) <= now)))


def _end_oldest(session: Session, user_id: int) -> None:
    """End a user's oldest sessions, so that there is room for one more."""
    own = select(WebSession.id).where(col(WebSession.user_id) == user_id)
    over = session.exec(own.order_by(col(WebSession.id).desc()).offset(MOST - 1)).all()
    if over:
        session.exec(delete(WebSession).where(col(WebSession.id).in_(over)))


def _token(session: Session, token: str) -> int:
    token_id = session.exec(select(Token.id).where(col(Token.prefix) == prefix_of(token))).one()
    return required(token_id)


def _digests(server: Server, secret: str) -> list[bytes]:
    """Return the stored digests that a session may have, the one of a new session first."""
    return _macs(server, b"penstock session\0", secret)


def _macs(server: Server, label: bytes, secret: str) -> list[bytes]:
    """Return the HMACs under every pepper, that of the newest first."""
    text, peppers = label + secret.encode(errors="replace"), server.stored.now.peppers
    return [
        hmac.digest(peppers[number], text, hashlib.sha256)
        for number in sorted(peppers, reverse=True)
    ]


def _ended() -> NotAuthenticated:
    return NotAuthenticated("The session has ended; sign in again.")
