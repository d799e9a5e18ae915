"""Tokens: issued once, stored as an HMAC, expiring, revocable at once."""

from datetime import timedelta

from sqlmodel import Session, col, select

from penstock.connectors.fields import folded
from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.persistence.tables import Token, User
from penstock.services import log, token_format
from penstock.services.acts import record
from penstock.services.lookup import listed, required, user_by_name
from penstock.services.paging import Window
from penstock.services.principals import ROLES, Principal, roles_of
from penstock.services.server import Server
from penstock.services.specs import TokenSpec
from penstock.services.two_persons import require_operator
from penstock.services.views import IssuedTokenView, Page, TokenView

LONGEST_LIFE = timedelta(days=3650)


def issue(server: Server, principal: Principal, name: str, spec: TokenSpec) -> IssuedTokenView:
    """Make a token for a user, by an admin or by the user themselves.

    A token that a user makes carries no role that the token they came with lacks.
    Raises ``NotFound``, ``Forbidden``, ``Conflict`` for a disabled user.
    """
    with server.database.write() as session:
        user = _reachable(session, principal, name)
        if user.disabled_at is not None:
            raise Conflict(f"{user.name} is disabled and cannot be given a token.")
        scopes = _scopes(principal, user, spec)
        if "admin" in scopes and user.id != principal.user_id:
            require_operator(server, principal, "gives others a token that carries the role admin")
        now = server.clock()
        life = timedelta(days=server.settings.token_days)
        if spec.expires_in is not None:
            life = timedelta(seconds=spec.expires_in)
        if life > LONGEST_LIFE:
            raise InvalidInput(
                f"A token lives at most {LONGEST_LIFE.days} days.", pointer="/expires_in"
            )
        secret = token_format.new_token()
        token = Token(
            prefix=token_format.prefix_of(secret),
            user_id=required(user.id),
            digest=token_format.digest(server.secrets.pepper, secret),
            scopes=",".join(scopes),
            created_at=now,
            expires_at=now + life,
        )
        session.add(token)
        record(
            session,
            principal,
            "token",
            now,
            user=user.name,
            token=token.prefix,
            scopes=scopes,
            expires=log.timestamp(token.expires_at),
        )
        return IssuedTokenView(
            token=secret,
            prefix=token.prefix,
            user=user.name,
            scopes=scopes,
            expires=token.expires_at,
        )


def listing(server: Server, principal: Principal, name: str, window: Window) -> Page[TokenView]:
    """A user's tokens, without their secrets."""
    with server.database.read() as session:
        user = _reachable(session, principal, name)
        return listed(
            session,
            Token,
            window,
            lambda token: _view(user, token),
            col(Token.user_id) == user.id,
        )


def revoke(server: Server, principal: Principal, name: str, prefix: str) -> TokenView:
    """Revoke a token, effective at once.  Raises ``NotFound``."""
    with server.database.write() as session:
        user = _reachable(session, principal, name)
        token = session.exec(
            select(Token).where(col(Token.user_id) == user.id, col(Token.prefix) == prefix)
        ).first()
        if token is None:
            raise NotFound(f"{user.name} has no token {prefix!r}.")
        if token.revoked_at is None:
            token.revoked_at = server.clock()
            session.add(token)
            record(
                session,
                principal,
                "token",
                token.revoked_at,
                user=user.name,
                token=prefix,
                revoked=True,
            )
        return _view(user, token)


def _reachable(session: Session, principal: Principal, name: str) -> User:
    if "admin" not in principal.roles and folded(name) != folded(principal.name):
        raise Forbidden("Only an admin reaches the tokens of others.")
    return user_by_name(session, name)


def _scopes(principal: Principal, user: User, spec: TokenSpec) -> list[str]:
    held = set(roles_of(user))
    if "admin" not in principal.roles:
        held &= principal.roles
    wanted = held if spec.scopes is None else set(spec.scopes)
    if not wanted or wanted - held:
        raise InvalidInput(
            f"The scopes asked for are {', '.join(sorted(wanted)) or 'none'};"
            f" they must be some of {', '.join(sorted(held)) or 'none'}.",
            pointer="/scopes",
        )
    return [role for role in ROLES if role in wanted]


def _view(user: User, token: Token) -> TokenView:
    return TokenView(
        prefix=token.prefix,
        user=user.name,
        scopes=token.scopes.split(",") if token.scopes else list(ROLES),
        created=token.created_at,
        expires=token.expires_at,
        revoked=token.revoked_at,
    )
