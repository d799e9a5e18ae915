"""Map groups of the provider to roles and a tier.

A mapping is a chain of versions; its newest counts.  One without roles and tier gives nothing.
"""

import hashlib
from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.people import GroupMapping, Tier
from penstock.services.access.principals import ROLES, Principal
from penstock.services.access.two_person_rule import require_operator
from penstock.services.context import Server
from penstock.services.pagination import Page, Window
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.people.groups import GroupMappingSpec
from penstock.services.schemas.people.views import GroupMappingView
from penstock.services.sign_on.logged_mappings import record_mapping


def listing(server: Server, principal: Principal, window: Window) -> Page[GroupMappingView]:
    """Return the mappings that give something, in the order of their last changes."""
    principal.require("admin", "auditor")
    statement = _newest().where(_gives(), col(GroupMapping.id) > window.after)
    with server.database.read() as session:
        rows = session.exec(statement.order_by(col(GroupMapping.id)).limit(window.limit + 1)).all()
        return window.page(
            rows, lambda row: _view(session, server, row), lambda row: required(row.id)
        )


def give(server: Server, principal: Principal, spec: GroupMappingSpec) -> GroupMappingView:
    """Map a group of the present provider, in place of what it was mapped to before.

    Raises ``Conflict`` without a provider, ``InvalidInput`` for an unknown tier, and ``Forbidden``
    for the role of admin under the two-person rule, unless the operator does it.
    """
    principal.require("admin")
    issuer = server.settings.oidc_issuer
    if not issuer:
        raise Conflict(
            "This server has no identity provider whose groups could be mapped; the operator names"
            " one by PENSTOCK_OIDC_ISSUER."
        )
    with server.database.write() as session:
        if "admin" in spec.roles:
            require_operator(server, principal, "maps groups to the role admin")
        tier = None
        if spec.tier is not None:
            try:
                tier = tier_by_name(session, spec.tier)
            except NotFound as problem:
                raise InvalidInput(
                    f"There is no tier {spec.tier!r} for a group; list the tiers, or create it"
                    " first.",
                    pointer="/tier",
                ) from problem
        roles = [role for role in ROLES if role in spec.roles]
        row = _changed(session, server, principal, (issuer, spec.group), roles, tier)
        return _view(session, server, row)


def take(server: Server, principal: Principal, mapping: str) -> GroupMappingView:
    """Let a group give nothing from now on.  Raises ``NotFound``."""
    principal.require("admin")
    with server.database.write() as session:
        rows = session.exec(_newest().where(_gives())).all()
        before = next((row for row in rows if id_of(row) == mapping), None)
        if before is None:
            raise NotFound(f"There is no mapping {mapping!r}.")
        group = before.issuer, before.group_name
        return _view(session, server, _changed(session, server, principal, group, [], None))


def of_groups(session: Session, issuer: str, groups: Iterable[str]) -> list[GroupMapping]:
    """Return the mappings of an issuer's groups, each compared character by character."""
    named = frozenset(groups)
    rows = session.exec(_newest().where(_gives(), col(GroupMapping.issuer) == issuer)).all()
    return [row for row in rows if row.group_name in named]


def id_of(row: GroupMapping) -> str:
    """Return the identifier of a mapping, which all its versions share: 32 digits."""
    return hashlib.sha256(f"{row.issuer}\0{row.group_name}".encode()).hexdigest()[:32]


def roles_of(row: GroupMapping) -> list[str]:
    """Return the roles that a mapping gives."""
    return row.roles.split(",") if row.roles else []


def _changed(
    session: Session,
    server: Server,
    principal: Principal,
    group: tuple[str, str],
    roles: Sequence[str],
    tier: Tier | None,
) -> GroupMapping:
    """Return the new version of a group's mapping, or the one there is if nothing changes."""
    issuer, name = group
    newest = _newest().where(
        col(GroupMapping.issuer) == issuer, col(GroupMapping.group_name) == name
    )
    last = session.exec(newest).first()
    written, tier_id = ",".join(roles), tier.id if tier else None
    unchanged = last is not None and (last.roles, last.tier_id) == (written, tier_id)
    if last is not None and unchanged and last.by == principal.name:
        return last
    now = server.clock()
    row = GroupMapping(
        issuer=issuer,
        group_name=name,
        version=last.version + 1 if last else 1,
        roles=written,
        tier_id=tier_id,
        at=now,
        by=principal.name,
    )
    session.add(row)
    session.flush()
    record_mapping(session, principal, row, tier, now)
    return row


def _newest() -> SelectOfScalar[GroupMapping]:
    later = aliased(GroupMapping)
    replaced = (
        select(later.id)
        .where(
            col(later.issuer) == col(GroupMapping.issuer),
            col(later.group_name) == col(GroupMapping.group_name),
            col(later.version) > col(GroupMapping.version),
        )
        .exists()
    )
    return select(GroupMapping).where(~replaced)


def _gives() -> ColumnElement[bool]:
    return (col(GroupMapping.roles) != "") | col(GroupMapping.tier_id).is_not(None)


def _view(session: Session, server: Server, row: GroupMapping) -> GroupMappingView:
    tier = session.get_one(Tier, row.tier_id) if row.tier_id is not None else None
    return GroupMappingView(
        id=id_of(row),
        group=row.group_name,
        issuer=row.issuer,
        roles=roles_of(row),
        tier=tier.name if tier is not None and tier.deleted_at is None else None,
        counts=row.issuer == server.settings.oidc_issuer
        and bool(server.settings.oidc_groups_claim),
        since=row.at,
        by=row.by,
    )
