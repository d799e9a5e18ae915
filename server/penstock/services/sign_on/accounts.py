"""Find the user of a provider's account, or create them, and bring their rights up to date."""

import unicodedata
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from sqlmodel import Session, col, select

from penstock.errors import Forbidden
from penstock.openid.relying_party import Account
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import ProviderAccount, Tier, User
from penstock.services.access.principals import (
    OPERATOR,
    ROLES,
    Principal,
    account_of,
    roles_of,
)
from penstock.services.context import Server
from penstock.services.people.clearances import give
from penstock.services.people.logged_users import record_clearance, record_roles, record_user
from penstock.services.repository.people import clearance_of
from penstock.services.sign_on.logged_mappings import SIGN_ON
from penstock.services.sign_on.rights import Rights, below_ceiling, rights_of
from penstock.spec_fields import Name, folded

WITHOUT_ROLES = frozenset({"analyst"})
"""The roles of a user whose groups give none: without a clearance, an analyst sees nothing."""


@dataclass(frozen=True)
class _Plan:
    """Hold what a sign-in gives: the roles of its session, and the user's own ``kept`` roles.

    ``user`` is None if they are to be created; ``rights`` is None if groups do not count.
    """

    user: User | None
    roles: frozenset[str]
    kept: frozenset[str]
    tier: Tier | None
    rights: Rights | None
    moves: bool


def admit(server: Server, account: Account) -> Principal:
    """Return the user of an account as a caller, after their groups were taken into account.

    Raises ``Forbidden`` if there is no such user, or if none of their groups gives a role; what
    the groups no longer give is taken away also then.
    """
    with server.database.read() as session:
        plan = _plan(session, server, account)
    user = plan.user
    if user is None or plan.moves:
        with server.database.write() as session:
            plan = _plan(session, server, account)
            user = _carry_out(session, server, account, plan)
    if not plan.roles:
        raise _without_roles(account)
    return Principal(user.name, user.id, plan.roles)


def _plan(session: Session, server: Server, account: Account) -> _Plan:
    user = _user_of(session, account)
    if user is None:
        if not server.settings.oidc_create_users or not _is_new_name(session, account.user):
            raise _unknown(account)
        rights = rights_of(session, server, account.issuer, account.groups)
        if not rights.roles:
            raise _without_roles(account)
        return _Plan(None, rights.roles, rights.roles, rights.tier, rights, moves=True)
    if not user.is_active:
        raise _unknown(account)
    own = frozenset(roles_of(user))
    now = clearance_of(session, required(user.id))
    if not server.settings.oidc_groups_claim:
        return _Plan(user, own, own, now, None, moves=False)
    rights = rights_of(session, server, account.issuer, account.groups)
    known = account_of(session, user)
    follows = known is not None and known.follows
    roles = rights.roles if follows else rights.roles & own
    kept = (rights.roles or WITHOUT_ROLES) if follows else own
    tier = below_ceiling(session, user, rights.tier)
    return _Plan(user, roles, kept, tier, rights, moves=tier != now or kept != own)


def _user_of(session: Session, account: Account) -> User | None:
    """Return the user of an account, or the one that its name names.

    The name alone names only users whom admins created.  Raises ``Forbidden`` if it is the name of
    another account's user.
    """
    known = session.exec(
        select(ProviderAccount).where(
            col(ProviderAccount.issuer) == account.issuer,
            col(ProviderAccount.subject) == account.subject,
        )
    ).first()
    if known is not None:
        return session.get_one(User, known.user_id)
    # Compared exactly: names that are equal after folding here may be two people there.
    user = session.exec(select(User).where(col(User.name) == account.user)).first()
    if user is not None and account_of(session, user) is not None:
        raise _unknown(account)
    return user


def _is_new_name(session: Session, name: str) -> bool:
    """Return True if a user can be created under a name that looks like nobody else's.

    Its letters are of one script, and no other name is equal to it in the compatibility form.
    """
    try:
        valid = TypeAdapter(Name).validate_python(name, strict=True) == name
    except ValidationError:
        return False
    scripts = {unicodedata.name(sign, " ").split(" ")[0] for sign in name if sign.isalpha()}
    names = (OPERATOR.name, *session.exec(select(User.name)).all())
    return valid and len(scripts) <= 1 and _alike(name) not in {_alike(other) for other in names}


def _alike(name: str) -> str:
    return folded(unicodedata.normalize("NFKC", name))


def _carry_out(session: Session, server: Server, account: Account, plan: _Plan) -> User:
    now = server.clock()
    if plan.user is None:
        return _created(session, server, account, plan)
    user, rights = plan.user, plan.rights
    groups = list(rights.groups) if rights is not None else None
    if plan.kept != frozenset(roles_of(user)):
        _set_roles(user, plan.kept)
        session.add(user)
        record_roles(session, SIGN_ON, user, now, groups=groups)
    if plan.tier != clearance_of(session, required(user.id)):
        give(session, user, plan.tier, now, SIGN_ON.name)
        record_clearance(session, SIGN_ON, user, plan.tier, now, groups=groups)
    return user


def _created(session: Session, server: Server, account: Account, plan: _Plan) -> User:
    now = server.clock()
    user = User(name=account.user, folded=folded(account.user), created_at=now)
    _set_roles(user, plan.kept)
    session.add(user)
    session.flush()
    session.add(
        ProviderAccount(
            user_id=required(user.id),
            issuer=account.issuer,
            subject=account.subject,
            follows=True,
            created_at=now,
        )
    )
    give(session, user, plan.tier, now, SIGN_ON.name)
    more = {"issuer": account.issuer, "subject": account.subject}
    groups = list(plan.rights.groups) if plan.rights is not None else None
    record_user(session, SIGN_ON, user, plan.tier, now, groups=groups, **more)
    return user


def _set_roles(user: User, roles: frozenset[str]) -> None:
    for role in ROLES:
        setattr(user, role, role in roles)


def _unknown(account: Account) -> Forbidden:
    """Return one refusal for every reason: no user, a disabled one, or another account's."""
    return Forbidden(
        f"You signed in at the identity provider as {account.user[:64]!r}, which may not sign in"
        " here: no active user belongs to that account. Ask an admin to create the user."
    )


def _without_roles(account: Account) -> Forbidden:
    return Forbidden(
        f"You signed in at the identity provider as {account.user[:64]!r}, but none of the groups"
        " that it names gives you a role here. Ask an admin which group you need."
    )
