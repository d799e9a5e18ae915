"""Invite people: a link that works once, until a time, makes the user that an admin described.

The link's secret is after its ``#``, which browsers send nowhere, and only its digest is stored.
"""

import hashlib
from datetime import datetime, timedelta

from sqlmodel import Session, col, select

from penstock.errors import Conflict, NotFound
from penstock.persistence.protocol import Need
from penstock.persistence.tables.people import Invitation, Tier
from penstock.services.access import token_format
from penstock.services.access.principals import ROLES, Principal
from penstock.services.access.two_person_rule import require_operator
from penstock.services.context import Server
from penstock.services.pagination import Page, Window
from penstock.services.people import token_lineage, users
from penstock.services.repository.people import listed
from penstock.services.schemas.people.invitations import (
    USUAL_LIFE,
    InvitationSpec,
    InvitationView,
    IssuedInvitationView,
    State,
)
from penstock.services.sign_on.logged_invitations import record_invitation, record_withdrawal
from penstock.spec_fields import folded

PLACE = "/invitation"
"""The page on which invitations are accepted."""


def digest(code: str) -> bytes:
    """Return the stored digest of a code, whose secret part has 256 bits."""
    return hashlib.sha256(b"penstock invitation\0" + code.encode()).digest()


def invite(server: Server, principal: Principal, spec: InvitationSpec) -> IssuedInvitationView:
    """Store an invitation, and return its link, which is shown once.

    It ends no later than the token or session that it is made with.  Raises ``NameTaken``,
    ``Conflict`` while another invitation of the name is open, ``InvalidInput`` for an unknown
    clearance, ``NotAuthenticated`` if the caller's own token has ended, and ``Forbidden`` for an
    admin under the two-person rule, unless the operator invites.
    """
    principal.require("admin")
    with server.database.write() as session:
        if "admin" in spec.roles:
            require_operator(server, principal, "makes admins")
        users.require_free(session, spec.name)
        tier = users.tier_for(session, spec.clearance)
        now = server.clock()
        _require_no_other(session, spec.name, now)
        parent = token_lineage.parent_of(session, principal, now)
        life = USUAL_LIFE if spec.expires_in is None else timedelta(seconds=spec.expires_in)
        latest = token_lineage.latest_end(principal, parent)
        code = token_format.new_token(token_format.INVITING)
        row = Invitation(
            prefix=token_format.prefix_of(code),
            digest=digest(code),
            name=spec.name,
            folded=folded(spec.name),
            roles=",".join(role for role in ROLES if role in spec.roles),
            tier_id=tier.id if tier else None,
            by=principal.name,
            inviter_id=principal.user_id,
            parent_id=parent.id if parent else None,
            created_at=now,
            expires_at=now + life if latest is None else min(now + life, latest),
        )
        session.add(row)
        session.flush()
        record_invitation(session, principal, row, tier, now)
        view = view_of(session, row, now)
        return IssuedInvitationView(
            link=f"{server.settings.public_url.rstrip('/')}{PLACE}#{code}",
            id=view.id,
            name=view.name,
            roles=view.roles,
            clearance=view.clearance,
            expires=view.expires,
        )


def _require_no_other(session: Session, name: str, now: datetime) -> None:
    """Raise ``Conflict`` if a link for the name counts: it might give more than the new one."""
    rows = session.exec(select(Invitation).where(col(Invitation.folded) == folded(name))).all()
    for row in rows:
        if state_of(row, now) == "open":
            raise Conflict(
                f"{row.name} is invited already, by {row.by}: the link of invitation"
                f" {row.prefix} still counts. Revoke that invitation first."
            )


def listing(server: Server, principal: Principal, window: Window) -> Page[InvitationView]:
    """Return all invitations without their secrets, in the order in which they were made."""
    principal.require("admin")
    with server.database.read() as session:
        now = server.clock()
        return listed(session, Invitation, window, lambda row: view_of(session, row, now))


def revoke(server: Server, principal: Principal, name: str) -> InvitationView:
    """Let an invitation count no more.

    Raises ``NotFound``, and ``Conflict`` if it was accepted: its user may be disabled.
    """
    principal.require("admin")
    with server.database.write(need=Need.RELIEF) as session:
        row = session.exec(select(Invitation).where(col(Invitation.prefix) == name)).first()
        if row is None:
            raise NotFound(f"There is no invitation {name!r}.")
        if row.accepted_at is not None:
            raise Conflict(
                f"Invitation {row.prefix} was accepted, and {row.name} is a user. Disable the user"
                " instead."
            )
        now = server.clock()
        if row.revoked_at is None:
            row.revoked_at = now
            session.add(row)
            record_withdrawal(session, principal, row, now)
        return view_of(session, row, now)


def view_of(session: Session, row: Invitation, now: datetime) -> InvitationView:
    """Return an invitation as an admin sees it."""
    tier = session.get_one(Tier, row.tier_id) if row.tier_id is not None else None
    return InvitationView(
        id=row.prefix,
        name=row.name,
        roles=row.roles.split(","),
        clearance=tier.name if tier else None,
        created_at=row.created_at,
        expires=row.expires_at,
        by=row.by,
        state=state_of(row, now),
    )


def state_of(row: Invitation, now: datetime) -> State:
    """Return whether an invitation is open, and otherwise why not."""
    if row.accepted_at is not None:
        return "accepted"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= now else "open"
