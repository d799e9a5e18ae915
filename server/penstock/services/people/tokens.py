"""Issue, list and revoke tokens: stored as an HMAC, expiring, limited in number."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Token, User
from penstock.services.access import token_format
from penstock.services.access.principals import ROLES, Principal, roles_of
from penstock.services.access.two_person_rule import require_operator
from penstock.services.context import Server
from penstock.services.pagination import Page, Window
from penstock.services.people import token_lineage
from penstock.services.people.logged_tokens import record_revocation, record_token
from penstock.services.releases import quota
from penstock.services.repository.people import listed, user_by_name
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.views import (
    IssuedTokenView,
    RevokedTokenView,
    TokenPreviewView,
    TokenView,
)
from penstock.spec_fields import folded
from penstock.transparency_log import leaves

NAMED = 5
"""The number of tokens that a refusal names as candidates to revoke."""


def issue(server: Server, principal: Principal, name: str, spec: TokenSpec) -> IssuedTokenView:
    """Issue a token for a user, as an admin or as the user themselves.

    A token that a user makes for themselves carries no role that their present token lacks.  It
    ends when the token that made it does, and the answer says when.  Raises ``NotFound``,
    ``Forbidden``, ``InvalidInput``, ``NotAuthenticated`` if the caller's own token has ended,
    ``Conflict`` for a disabled user and for one who has the largest number of valid tokens, and
    ``QuotaUsedUp`` for one who has made the largest number for themselves in a day.
    """
    with server.database.write() as session:
        user = _reachable(session, principal, name)
        if not user.is_active:
            raise Conflict(f"{user.name} is disabled and cannot be given a token.")
        scopes = _scopes(principal, user, spec)
        if "admin" in scopes and user.id != principal.user_id:
            require_operator(server, principal, "gives others a token that carries the role admin")
        now = server.clock()
        parent = token_lineage.parent_of(session, principal, now)
        if user.id == principal.user_id:
            quota.require_token(session, server, required(user.id))
        _require_room(server, user, token_lineage.live(session, user, now))
        ends = end_of(server, spec, now, token_lineage.latest_end(principal, parent))
        return add(session, server, principal, user, scopes, parent, (now, ends))


def add(
    session: Session,
    server: Server,
    principal: Principal,
    user: User,
    scopes: list[str],
    parent: Token | None,
    life: tuple[datetime, datetime],
) -> IssuedTokenView:
    """Store a token that was decided on, with its leaf, and return it with its secret.

    ``life`` is from when to when it is valid.
    """
    now, ends = life
    secret = token_format.new_token()
    stored = server.stored.now
    token = Token(
        prefix=token_format.prefix_of(secret),
        user_id=required(user.id),
        digest=token_format.digest(stored.peppers[stored.newest], secret),
        pepper=stored.newest,
        parent_id=parent.id if parent else None,
        scopes=",".join(scopes),
        created_at=now,
        expires_at=ends,
    )
    session.add(token)
    record_token(session, principal, user, token, parent, now)
    return IssuedTokenView(
        token=secret,
        prefix=token.prefix,
        user=user.name,
        scopes=scopes,
        expires=token.expires_at,
        parent=parent.prefix if parent else None,
    )


def preview(server: Server, principal: Principal, name: str) -> TokenPreviewView:
    """Return the bounds of a token that ``principal`` would make now; nothing is made.

    Raises ``NotFound``, ``Forbidden``, and ``NotAuthenticated`` as ``issue`` does.
    """
    with server.database.read() as session:
        user = _reachable(session, principal, name)
        now = server.clock()
        parent = token_lineage.parent_of(session, principal, now)
        longest = now + timedelta(days=server.settings.token_longest_days)
        return TokenPreviewView(
            latest=min(longest, token_lineage.latest_end(principal, parent) or longest),
            parent=parent.prefix if parent else None,
            live=len(token_lineage.live(session, user, now)),
            most=server.settings.tokens_per_user,
        )


def listing(server: Server, principal: Principal, name: str, window: Window) -> Page[TokenView]:
    """Return a user's tokens, without their secrets."""
    with server.database.read() as session:
        user = _reachable(session, principal, name)
        return listed(
            session,
            Token,
            window,
            lambda token: _view(session, user, token),
            col(Token.user_id) == user.id,
        )


def revoke(server: Server, principal: Principal, name: str, prefix: str) -> RevokedTokenView:
    """Revoke a token and all that were made with it, effective at once.  Raises ``NotFound``."""
    with server.database.write(need=Need.RELIEF) as session:
        user = _reachable(session, principal, name)
        token = session.exec(
            select(Token).where(col(Token.user_id) == user.id, col(Token.prefix) == prefix)
        ).first()
        if token is None:
            raise NotFound(f"{user.name} has no token {prefix!r}.")
        also: list[Token] = []
        if token.revoked_at is None:
            now = server.clock()
            record_revocation(session, principal, user, token, now)
            also = token_lineage.end_all(session, principal, [token], now)
        view = _view(session, user, token)
        return RevokedTokenView(**vars(view), also=[child.prefix for child in also])


def _reachable(session: Session, principal: Principal, name: str) -> User:
    if "admin" not in principal.roles and folded(name) != folded(principal.name):
        raise Forbidden("Only an admin can see or change the tokens of others.")
    return user_by_name(session, name)


def _require_room(server: Server, user: User, live: Sequence[Token]) -> None:
    most = server.settings.tokens_per_user
    if len(live) >= most:
        first = sorted(live, key=lambda token: token.expires_at)[:NAMED]
        named = ", ".join(
            f"{soonest.prefix} ({leaves.timestamp(soonest.expires_at)[:10]})" for soonest in first
        )
        raise Conflict(
            f"{user.name} has {len(live)} valid tokens, and may have {most}. Revoke one that is"
            f" no longer used; the first to end are {named}."
        )


def end_of(server: Server, spec: TokenSpec, now: datetime, latest: datetime | None) -> datetime:
    """Return when a token ends.  Raises ``InvalidInput`` above the longest lifetime.

    It ends no later than the token that made it.
    """
    most = server.settings.token_longest_days
    life = timedelta(days=min(server.settings.token_days, most))
    if spec.expires_in is not None:
        life = timedelta(seconds=spec.expires_in)
    if life > timedelta(days=most):
        raise InvalidInput(
            f"On this server a token lasts at most {most} days.", pointer="/expires_in"
        )
    return now + life if latest is None else min(now + life, latest)


def _scopes(principal: Principal, user: User, spec: TokenSpec) -> list[str]:
    own_roles = set(roles_of(user))
    if not principal.is_operator and user.id == principal.user_id:
        own_roles &= principal.roles
    requested = own_roles if spec.scopes is None else set(spec.scopes)
    if not requested or requested - own_roles:
        raise InvalidInput(
            f"The requested scopes are {', '.join(sorted(requested)) or 'none'};"
            f" they must be some of {', '.join(sorted(own_roles)) or 'none'}.",
            pointer="/scopes",
        )
    return [role for role in ROLES if role in requested]


def _view(session: Session, user: User, token: Token) -> TokenView:
    parent = None if token.parent_id is None else session.get_one(Token, token.parent_id)
    return TokenView(
        prefix=token.prefix,
        user=user.name,
        scopes=token.scopes.split(",") if token.scopes else list(ROLES),
        created=token.created_at,
        expires=token.expires_at,
        revoked=token.revoked_at,
        parent=parent.prefix if parent else None,
    )
