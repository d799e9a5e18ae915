"""Accept invitations: create the user that an admin described, with a token, and once.

Whoever has a link needs no account here, so everything is checked again in the transaction that
creates the user: what the admin could do when they invited must be theirs still.
"""

import hmac
from datetime import datetime
from typing import Final

from sqlmodel import Session, col, select

from penstock.errors import Conflict, NameTaken, NotAuthenticated
from penstock.persistence.tables.people import Invitation, Tier, Token, User
from penstock.services.access import token_format
from penstock.services.access.principals import Principal, is_valid
from penstock.services.context import Server
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.people.views import IssuedTokenView
from penstock.services.sign_on.invitations import digest, state_of

ACCEPTANCE: Final = Principal(name="(invitation)", user_id=0, roles=frozenset())
"""The actor of what an acceptance changes; no user has such a name, or that number."""

_ABSENT: Final = bytes(32)


def accept(server: Server, code: str) -> IssuedTokenView:
    """Create the user of an invitation, and return their first token.

    Raises ``NotAuthenticated`` with one text for everything that is no code of this server,
    ``NameTaken``, and ``Conflict`` for an invitation that counts no more.
    """
    with server.database.read() as session:  # so that wrong codes keep no writer waiting
        _known(session, code)
    with server.database.write() as session:
        now = server.clock()
        row = _known(session, code)
        _require_open(row, now)
        parent = _require_inviter(session, server, row, now)
        tier = session.get_one(Tier, row.tier_id) if row.tier_id is not None else None
        if tier is not None and tier.deleted_at is not None:
            raise Conflict(
                f"The tier {tier.name!r} of this invitation was deleted. Nothing was done; ask"
                f" {row.by} for another invitation."
            )
        try:
            users.require_free(session, row.name)
        except NameTaken as problem:
            raise NameTaken(
                f"The name {row.name!r} of this invitation is taken by now. Nothing was done; ask"
                f" {row.by} for another invitation."
            ) from problem
        spec = UserSpec.model_validate({"name": row.name, "roles": row.roles.split(",")})
        user = users.add(
            session, server, ACCEPTANCE, spec, tier=tier, by=row.by, invitation=row.prefix
        )
        row.accepted_at = now
        session.add(row)
        ends = tokens.end_of(server, TokenSpec(), now, _latest_end(row, parent))
        scopes = row.roles.split(",")
        return tokens.add(session, server, ACCEPTANCE, user, scopes, parent, (now, ends))


def _known(session: Session, code: str) -> Invitation:
    """Return the invitation of a code, whose digest is compared in constant time."""
    well_formed = token_format.well_formed(code, token_format.INVITING)
    prefix = token_format.prefix_of(code) if well_formed else ""
    row = session.exec(select(Invitation).where(col(Invitation.prefix) == prefix)).first()
    genuine = hmac.compare_digest(digest(code), row.digest if row is not None else _ABSENT)
    if row is None or not genuine:
        raise NotAuthenticated(
            "This is no invitation of this server. Paste the whole link that you were sent, with"
            " what follows its #."
        )
    return row


def _latest_end(row: Invitation, parent: Token | None) -> datetime | None:
    """Return the latest end of the first token, or None if the operator invited.

    An admin who came with a provider's token or session has no token here that could be the parent:
    the invitation ends no later than theirs does, and neither does the user's.
    """
    if parent is not None:
        return parent.expires_at
    return None if row.inviter_id is None else row.expires_at


def _require_open(row: Invitation, now: datetime) -> None:
    state = state_of(row, now)
    if state == "accepted":
        raise Conflict(
            "This invitation was accepted already, and counts once. If that was not you, or if you"
            f" did not keep the token, tell {row.by} now."
        )
    if state != "open":
        raise Conflict(
            f"This invitation is {state}. Nothing was done; ask {row.by} for another one."
        )


def _require_inviter(
    session: Session, server: Server, row: Invitation, now: datetime
) -> Token | None:
    """Return the token that an invitation was made with.

    Raises ``Conflict`` if whoever invited could not create the user now.
    """
    parent = session.get_one(Token, row.parent_id) if row.parent_id is not None else None
    inviter = session.get_one(User, row.inviter_id) if row.inviter_id is not None else None
    able = inviter is None or (inviter.is_active and inviter.admin)
    rule = server.settings.two_person_rule and "admin" in row.roles.split(",")
    if not able or (parent is not None and not is_valid(parent, now)) or (rule and inviter):
        raise Conflict(
            f"{row.by}, who made this invitation, may no longer do so. Nothing was done; ask"
            " another admin for an invitation."
        )
    return parent
