"""Manage users: their roles, and their clearance, whose changes take effect at once."""

from sqlmodel import Session, col, select

from penstock.errors import Conflict, InvalidInput, NameTaken, NotFound
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import Tier, Token, User
from penstock.services.access.principals import OPERATOR, ROLES, Principal, account_of, roles_of
from penstock.services.access.two_person_rule import require_operator
from penstock.services.context import Server
from penstock.services.pagination import Page, Window
from penstock.services.people.clearances import give
from penstock.services.people.logged_users import (
    record_clearance,
    record_disabling,
    record_roles,
    record_user,
)
from penstock.services.people.token_lineage import end_all
from penstock.services.repository.people import clearance_of, listed, tier_by_name, user_by_name
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.people.views import MeView, UserView
from penstock.spec_fields import folded


def view(session: Session, user: User) -> UserView:
    """Return a user as an admin sees them."""
    tier = clearance_of(session, required(user.id))
    return UserView(
        name=user.name,
        roles=roles_of(user),
        clearance=tier.name if tier else None,
        created_at=user.created_at,
        active=user.is_active,
    )


def me(server: Server, principal: Principal) -> MeView:
    """Return the caller's own account, as their token shows it."""
    with server.database.read() as session:
        tier = clearance_of(session, principal.user_id) if principal.user_id else None
    return MeView(
        name=principal.name,
        roles=[role for role in ROLES if role in principal.roles],
        clearance=tier.name if tier else None,
        token_expires=principal.token_expires,
    )


def listing(server: Server, principal: Principal, window: Window) -> Page[UserView]:
    """Return all users, in the order in which they were made."""
    principal.require("admin")
    with server.database.read() as session:
        return listed(session, User, window, lambda user: view(session, user))


def show(server: Server, principal: Principal, name: str) -> UserView:
    """Return one user.  Raises ``NotFound``."""
    principal.require("admin")
    with server.database.read() as session:
        return view(session, user_by_name(session, name))


def create(server: Server, principal: Principal, spec: UserSpec) -> UserView:
    """Add a user.

    Raises ``NameTaken``, ``InvalidInput`` for an unknown clearance, and ``Forbidden`` for a new
    admin under the two-person rule, unless the operator creates them.
    """
    principal.require("admin")
    with server.database.write() as session:
        if "admin" in spec.roles:
            require_operator(server, principal, "makes admins")
        require_free(session, spec.name)
        tier = tier_for(session, spec.clearance)
        return view(session, add(session, server, principal, spec, tier=tier))


def require_free(session: Session, name: str) -> None:
    """Raise ``NameTaken`` if a user, or the operator, has the name in whatever case."""
    taken = session.exec(select(User).where(col(User.folded) == folded(name))).first()
    if taken is not None or folded(name) == OPERATOR.name:
        known = taken.name if taken else OPERATOR.name
        raise NameTaken(f"The name {known!r} is taken; choose another one.")


def add(
    session: Session,
    server: Server,
    principal: Principal,
    spec: UserSpec,
    *,
    tier: Tier | None,
    by: str | None = None,
    **more: object,
) -> User:
    """Store a user whose name is free, with the clearance ``tier`` and a leaf, and return them.

    ``by`` set the clearance, if not the principal; ``more`` are further fields of the leaf.
    """
    now = server.clock()
    user = User(
        name=spec.name,
        folded=folded(spec.name),
        created_at=now,
        analyst="analyst" in spec.roles,
        admin="admin" in spec.roles,
        auditor="auditor" in spec.roles,
    )
    session.add(user)
    session.flush()
    give(session, user, tier, now, by or principal.name)
    record_user(session, principal, user, tier, now, **more)
    return user


def change(server: Server, principal: Principal, name: str, spec: UserChange) -> UserView:
    """Change a user's clearance or roles, with immediate effect on tokens already issued.

    Raises ``NotFound``, ``InvalidInput`` for an unknown clearance, ``Conflict`` if no admin would
    be left, and ``Forbidden`` if the change made an admin under the two-person rule; the operator
    may do both.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        user = user_by_name(session, name)
        now = server.clock()
        if spec.roles is not None and "admin" not in spec.roles:
            _require_other_admin(session, principal, user)
        if spec.roles is not None and set(spec.roles) != set(roles_of(user)):
            if "admin" in spec.roles and not user.admin:
                require_operator(server, principal, "makes admins")
            for role in ROLES:
                setattr(user, role, role in spec.roles)
            session.add(user)
            _keep_roles(session, user)
            record_roles(session, principal, user, now)
        if "clearance" in spec.model_fields_set:
            tier = tier_for(session, spec.clearance)
            if tier != clearance_of(session, required(user.id)):
                give(session, user, tier, now, principal.name)
                record_clearance(session, principal, user, tier, now)
        return view(session, user)


def disable(server: Server, principal: Principal, name: str) -> UserView:
    """Disable a user: their tokens are revoked; what they were given stays on record.

    Tokens that were made with theirs are revoked as well, also other users' tokens.  Raises
    ``NotFound``, and ``Conflict`` if no admin would be left, unless the operator does it.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        user = user_by_name(session, name)
        now = server.clock()
        if user.is_active:
            _require_other_admin(session, principal, user)
            user.disabled_at = now
            session.add(user)
            tokens = session.exec(select(Token).where(col(Token.user_id) == user.id)).all()
            record_disabling(session, principal, user, now)
            end_all(session, principal, tokens, now)
        return view(session, user)


def _require_other_admin(session: Session, principal: Principal, user: User) -> None:
    """Raise ``Conflict`` if nobody but ``user`` could administer over HTTP."""
    if principal.is_operator or not user.admin or not user.is_active:
        return
    others = select(User).where(
        col(User.admin), col(User.disabled_at).is_(None), col(User.id) != user.id
    )
    if session.exec(others.limit(1)).first() is None:
        raise Conflict(
            f"{user.name} is the only admin, and nobody could undo this. Make another user an"
            f" admin first, or let the operator do it with the command `penstock user`."
        )


def tier_for(session: Session, name: str | None) -> Tier | None:
    """Return the tier of a clearance.  Raises ``InvalidInput`` if there is none of that name."""
    if name is None:
        return None
    try:
        return tier_by_name(session, name)
    except NotFound as problem:
        raise InvalidInput(
            f"There is no tier {name!r} for a clearance; list the tiers, or create it first.",
            pointer="/clearance",
        ) from problem


def _keep_roles(session: Session, user: User) -> None:
    """Let the roles that an admin sets stay whatever the user's groups at the provider are."""
    account = account_of(session, user)
    if account is not None:
        account.follows = False
        session.add(account)
