"""Record which token was made with which, and revoke it together with that one.

A person who stole a token could otherwise make another one that stays valid when the theft is
discovered.  So a token that was made with a token, or in a session that began with one, ends when
that one does and is revoked with it, also if an admin made it for another user.  A token that the
operator makes has no parent.  One that was made with the token of an OpenID provider has none
either, and ends when that token would.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.errors import NotAuthenticated
from penstock.persistence.tables.people import Token, User
from penstock.services.access.principals import Principal, is_valid
from penstock.services.people.logged_tokens import record_revocation


def parent_of(session: Session, principal: Principal, now: datetime) -> Token | None:
    """Return the stored token that ``principal`` came with, or None for a provider's token.

    It is read in this transaction.  Raises ``NotAuthenticated`` if it has ended since.
    """
    token = None if principal.token_id is None else session.get_one(Token, principal.token_id)
    ended = principal.token_expires is not None and principal.token_expires <= now
    if ended or (token is not None and not is_valid(token, now)):
        raise NotAuthenticated(
            "Your token or session has ended in the meantime; nothing was made. Sign in again."
        )
    return token


def latest_end(principal: Principal, parent: Token | None) -> datetime | None:
    """Return the latest end of what ``principal`` makes, or None for the operator.

    For a stored token that is the token's end, and not that of a session that began with it: people
    sign out, and the tokens that they made stay valid.
    """
    return principal.token_expires if parent is None else parent.expires_at


def live(session: Session, user: User, now: datetime) -> Sequence[Token]:
    """Return a user's valid tokens, in the order in which they were made."""
    tokens = session.exec(
        select(Token)
        .where(
            col(Token.user_id) == user.id,
            col(Token.revoked_at).is_(None),
            col(Token.expires_at) > now,
        )
        .order_by(col(Token.id))
    ).all()
    return [token for token in tokens if is_valid(token, now)]


def end_all(
    session: Session, principal: Principal, tokens: Iterable[Token], now: datetime
) -> list[Token]:
    """Revoke tokens, and those that were made with them, as a part of a transaction.

    Each of the latter gets a leaf, unless its user was disabled, for which the log has one already.
    Returns the latter, in the order in which they were made.
    """
    ended = list(tokens)
    for token in ended:
        _revoke(session, token, now)
    known = {token.id for token in ended}
    gathered: list[Token] = []
    while ended:
        parents = [token.id for token in ended]
        made = session.exec(select(Token).where(col(Token.parent_id).in_(parents))).all()
        ended = [token for token in made if token.id not in known]
        known |= {token.id for token in ended}
        gathered += ended
    fallen = sorted(
        (row for row in gathered if row.revoked_at is None), key=lambda row: row.id or 0
    )
    for token in fallen:
        _revoke(session, token, now)
        user = session.get_one(User, token.user_id)
        record_revocation(session, principal, user, token, now)
    return fallen


def _revoke(session: Session, token: Token, now: datetime) -> None:
    if token.revoked_at is None:
        token.revoked_at = now
        session.add(token)
