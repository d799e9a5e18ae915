"""Show callers the share of an account that a charge takes, and whether there is room for it."""

import math

from penstock.accounting.charging.ledger import Entry, check, left_of, limit_of
from penstock.services.ledger.accounts import TierAccount, largest_share
from penstock.services.schemas.previews import ChargeView, RoomView


def charge_of(account: TierAccount, cost: Entry) -> ChargeView:
    """Return the charge of an account, and its share of the limit."""
    share = cost.loss / limit_of(account.account).loss
    own = account.account
    order = own.order if math.isfinite(own.order) and not own.squares else None
    return ChargeView(order, cost.cost.loss, cost.cost.failure, share)


def room_of(account: TierAccount, cost: Entry) -> RoomView:
    """Return the room that an account has for a charge."""
    shortfall = check(account.account, account.spent, cost)
    limit = limit_of(account.account).loss
    return RoomView(
        fits=shortfall is None,
        needed_share=cost.loss / limit,
        remaining_share=left_of(account.account, account.spent).loss / limit,
        largest_share=largest_share(account) if shortfall is None else shortfall.largest_share,
    )
