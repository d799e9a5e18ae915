"""Authenticate callers: users with a token, and the operator at the machine itself."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from penstock.errors import Forbidden, NotAuthenticated, NotFound
from penstock.persistence.row_authentication import authentic_row, signed_columns
from penstock.persistence.statements.glances import Glance, PreparedSelect
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.people import ProviderAccount, Token, User
from penstock.services.access import peppers
from penstock.services.access.token_format import prefix_of, well_formed
from penstock.services.context import Server
from penstock.services.repository.people import user_by_name
from penstock.transparency_log.checkpoints import NEWEST_NOTE

ROLES = ("analyst", "admin", "auditor")

Known = TypeVar("Known", "KnownToken", "KnownUser")

_TOKEN, _USER = (
    [column.label(f"{name}_{column.name}") for column in signed_columns(metadata.tables[name])]
    for name in ("token", "user")
)
SIGNED_IN: Final = (*_TOKEN, *_USER, NEWEST_NOTE.label("note"))
"""The columns that ``known_in`` reads, the first of their statement."""

MOST_SIGNED_IN: Final = 4096
"""The most tokens of which a worker keeps the rows of the last request; the oldest goes first."""

# Built once, since every request runs it.
_BY_PREFIX = PreparedSelect(
    select(*SIGNED_IN)
    .join_from(Token, User, col(Token.user_id) == col(User.id))
    .where(col(Token.prefix) == bindparam("prefix"))
)
_BY_NUMBER = Prepared(select(*_USER).where(col(User.id) == bindparam("number")))


@dataclass(frozen=True)
class KnownToken:
    """Hold what authentication needs of a token's authenticated row."""

    id: int
    digest: bytes
    scopes: str
    expires_at: datetime
    revoked_at: datetime | None
    pepper: int | None


@dataclass(frozen=True)
class KnownUser:
    """Hold what authentication needs of a user's authenticated row."""

    id: int
    name: str
    analyst: bool
    admin: bool
    auditor: bool
    disabled_at: datetime | None

    @property
    def is_active(self) -> bool:
        """Return whether the user is not disabled."""
        return self.disabled_at is None


@dataclass(frozen=True)
class Principal:
    """Represent an authenticated caller; ``roles`` are those of the user that the token carries.

    ``token_id`` is the token that they sent, or began their session with, and ``token_expires``
    the time when the token or session ends; an OpenID provider's token has no number.  ``by``
    names the person who acts in this user's place; the log distinguishes the two.
    """

    name: str
    user_id: int | None
    roles: frozenset[str]
    token_expires: datetime | None = None
    token_id: int | None = None
    by: str | None = None

    @property
    def actor(self) -> str:
        """Return the name that the log records as the actor."""
        return self.by or self.name

    @property
    def is_operator(self) -> bool:
        """Return True for the operator, who needs no token."""
        return self.user_id is None

    def require(self, *roles: str) -> None:
        """Raise ``Forbidden`` unless the caller has one of ``roles``."""
        if not self.roles.intersection(roles):
            raise Forbidden(
                f"This takes the role {' or '.join(roles)};"
                f" {self.name} has {', '.join(sorted(self.roles)) or 'none'} with this token."
            )


OPERATOR = Principal(name="operator", user_id=None, roles=frozenset({"admin", "auditor"}))


def roles_of(user: User | KnownUser) -> list[str]:
    """Return the roles that a user holds, in the order of ``ROLES``."""
    return [role for role in ROLES if getattr(user, role)]


def require_still(session: Session, principal: Principal, role: str) -> None:
    """Raise ``Forbidden`` if the caller has lost ``role``, or was disabled, in the meantime.

    It is called before the result of a long job is stored.  The end of a token or a session
    does not end a job that was begun with it: people may sign out and leave it running.
    """
    if principal.user_id is None:
        return
    row = _BY_NUMBER.first(session.connection(), {"number": principal.user_id})
    stored = None if row is None else authentic_row(session, "user", list(row.values()))
    user = None if stored is None else _chosen(KnownUser, stored)
    if user is None or not user.is_active or role not in roles_of(user):
        raise Forbidden(
            f"This takes the role {role}, which {principal.name} has lost since the job began;"
            f" nothing was stored."
        )


def authenticate(server: Server, token: str) -> Principal:
    """Return the principal of a bearer token.

    Raises ``NotAuthenticated`` with one text for every reason, so that a person who guesses
    learns nothing; the reasons are: malformed, unknown, expired, revoked, user disabled.  If
    the server trusts an OpenID provider, raises ``IdentityUnavailable`` as well.
    """
    refusal = NotAuthenticated(
        "The token is malformed, unknown, expired or revoked; ask an admin for a new one."
    )
    if not well_formed(token):
        principal = _identified(server, token)
        if principal is None:
            raise refusal
        return principal
    # The secrets after the row: whoever digested it had none that are newer.
    row, secrets = _row(server, token), server.stored.now
    if row is not None and peppers.is_dropped(secrets, row[0]):
        # Another worker may have moved it just before.
        row, secrets = _row(server, token), server.stored.now
    if row is None or not (
        peppers.is_genuine(secrets, row[0], token)
        and is_valid(row[0], server.clock())
        and row[1].is_active
    ):
        server.signed_in.pop(prefix_of(token), None)
        raise refusal
    stored, user = row
    peppers.move(server, secrets, stored, token)
    _keep(server, prefix_of(token), (stored, user))
    return limited(user, stored.scopes, stored.expires_at, stored.id)


def is_valid(token: Token | KnownToken, now: datetime) -> bool:
    """Return True for a token that is neither revoked nor expired."""
    return token.revoked_at is None and token.expires_at > now


def _row(server: Server, token: str) -> tuple[KnownToken, KnownUser] | None:
    return known_in(server, server.database.glance(_BY_PREFIX, prefix=prefix_of(token)))


def _keep(server: Server, prefix: str, known: tuple[KnownToken, KnownUser]) -> None:
    """Keep the rows of a token that was accepted, for ``presumptions``."""
    kept = server.signed_in
    if len(kept) >= MOST_SIGNED_IN and prefix not in kept:
        with suppress(KeyError, StopIteration, RuntimeError):  # another thread may do the same
            del kept[next(iter(kept))]
    kept[prefix] = known


def known_in(server: Server, glance: Glance) -> tuple[KnownToken, KnownUser] | None:
    """Return the authenticated rows of a token and its user, as ``SIGNED_IN`` reads them."""
    if glance.row is None:
        return None
    values = list(glance.row.values())
    stored = authentic_row(glance, "token", values[: len(_TOKEN)])
    user = authentic_row(glance, "user", values[len(_TOKEN) : len(SIGNED_IN) - 1])
    if not server.clock.passed(glance.row["note"]):
        with server.database.read() as session:
            server.clock.look(session)
    if stored is None or user is None:
        return None
    return _chosen(KnownToken, stored), _chosen(KnownUser, user)


def _chosen(kind: type[Known], row: Mapping[str, Any]) -> Known:
    """Return the columns of a row that ``kind`` holds."""
    return kind(**{name: row[name] for name in kind.__dataclass_fields__})


def limited(user: User | KnownUser, scopes: str, expires: datetime, token: int | None) -> Principal:
    """Return a user as a caller, limited to the roles in ``scopes``; an empty text has no limit."""
    carried = frozenset(scopes.split(",")) if scopes else None
    return Principal(user.name, user.id, _carried(user, carried), expires, token)


def _principal(user: User | KnownUser, carried: frozenset[str] | None = None) -> Principal:
    """Return a user as a caller, with the ``carried`` roles, or with all of theirs for None."""
    return Principal(user.name, user.id, _carried(user, carried))


def _carried(user: User | KnownUser, carried: frozenset[str] | None) -> frozenset[str]:
    roles = frozenset(roles_of(user))
    return roles if carried is None else roles & carried


def _identified(server: Server, token: str) -> Principal | None:
    """Return the user that a token of the OpenID provider names, or None if it is not valid."""
    if server.issuer is None or not token:
        return None
    from penstock.openid.issuer import Refused

    with server.database.read() as session:
        server.clock.look(session)
    try:
        identity = server.issuer.identify(token, server.clock())
        with server.database.read() as session:
            user = user_by_name(session, identity.user)
            account = account_of(session, user)
    except (Refused, NotFound):
        return None
    # Compared exactly: names that are equal after folding here may be two people there.
    if user.name != identity.user or not user.is_active:
        return None
    known = server.issuer.address, identity.subject
    if account is not None and (account.issuer, account.subject) != known:
        return None
    return replace(_principal(user, identity.roles), token_expires=identity.expires)


def account_of(session: Session, user: User) -> ProviderAccount | None:
    """Return the provider's account that a user was created for, if there is one.

    The name may become another person's there; the account does not.
    """
    statement = select(ProviderAccount).where(col(ProviderAccount.user_id) == user.id)
    row: ProviderAccount | None = session.execute(statement).scalars().first()
    return row


def acting_as(server: Server, name: str, by: Principal | None = None) -> Principal:
    """Return the principal of a user, for the operator (``by``) who acts in their name.

    Raises ``NotFound``, and ``Forbidden`` for a disabled user.
    """
    with server.database.read() as session:
        user = user_by_name(session, name)
    if not user.is_active:
        raise Forbidden(f"{user.name} is disabled.")
    return replace(_principal(user), by=by.name if by else None)
