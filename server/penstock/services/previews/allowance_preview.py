"""Show an analyst what a query would take of their allowance, and what is left of it."""

from sqlmodel import Session

from penstock.accounting.charging.ledger import Entry
from penstock.errors import InvalidInput
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.allowances.open_allowances import OpenAllowance, own
from penstock.services.allowances.own_levels import Accounts, require_own_level
from penstock.services.allowances.own_names import with_tier
from penstock.services.computations import computations
from penstock.services.ledger.accounts import TierAccount
from penstock.services.ledger.room_left import room_of
from penstock.services.queries.exact_answers import Plannable
from penstock.services.queries.pending import own_pending
from penstock.services.queries.prepared_request import PreparedRequest
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.previews import AllowanceRoomView
from penstock.services.schemas.queries import ComputedQueryRequest


def allowance_room(planned: PreparedRequest, accounts: Accounts) -> AllowanceRoomView | None:
    """Return the room that the caller's allowance has for a query; ``None`` without one.

    A request that could not be registered under it, as one with levels at other tiers, takes
    nothing of it: then only what is left is said.
    """
    with planned.server.database.read() as session:
        newest = dataset_by_name(session, planned.request.dataset)
        allowance = own(session, planned.principal, newest)
    if allowance is None or newest.id != planned.dataset.id:
        return None
    needed = _needed(planned, accounts, allowance)
    account = TierAccount(allowance.tier, allowance.account, allowance.spent, allowance.entries)
    room = room_of(account, needed or Entry(0, 0))
    return AllowanceRoomView(
        tier=allowance.tier.name,
        epsilon=allowance.account.epsilon,
        fits=None if needed is None else room.fits,
        needed_share=None if needed is None else room.needed_share,
        remaining_share=room.remaining_share,
    )


def own_left(session: Session, planned: PreparedRequest) -> Query | None:
    """Return what an interrupted registration under the caller's allowance left, or ``None``.

    Raises ``NameTaken`` and ``Conflict`` as registering the request under it would.
    """
    request = planned.request
    newest = dataset_by_name(session, request.dataset)
    allowance = own(session, planned.principal, newest)
    if allowance is None or newest.id != planned.dataset.id:
        return None
    if not isinstance(request, ComputedQueryRequest) or not _is_at(request, allowance.tier):
        return None
    named, by = with_tier(request, allowance.tier), planned.principal.name
    return own_pending(session, planned.dataset, named, planned.prepared, allowance.tier, by)


def _is_at(request: Plannable, tier: Tier) -> bool:
    """Return True if a request has levels at no other tier."""
    try:
        require_own_level(request, tier)
    except InvalidInput:
        return False
    return True


def _needed(planned: PreparedRequest, accounts: Accounts, allowance: OpenAllowance) -> Entry | None:
    request, delta = planned.request, planned.dataset.delta
    if not isinstance(request, ComputedQueryRequest) or not _is_at(request, allowance.tier):
        return None
    quoted = planned.run(computations.quote_own, accounts, delta, allowance.tier, allowance.account)
    return quoted.counted
