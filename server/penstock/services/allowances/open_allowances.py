"""Read what is left of an allowance, and take from it in the transaction that charges a query.

An allowance has an account of its own: at the order that suits its epsilon best, whatever order the
tier's account has.  So all that is registered under it is together (epsilon, delta)-differentially
private for the analyst's tier.  What counts against it is the price of each query at the level
of this tier, as it was registered; a level that an admin raises later is the admin's choice, and
counts only against the tiers' budgets.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.accounting.charging.budget import Account, account_of
from penstock.accounting.charging.ledger import Entry, check, left_of, limit_of, total
from penstock.errors import BudgetExhausted, Conflict, Forbidden
from penstock.persistence.row_authentication import store_signed
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Allowance, Dataset
from penstock.persistence.tables.ledger import AllowanceCharge
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.ledger.effective_levels import highest_ever, place
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.people import clearance_of

MOST_NAMED = 10


@dataclass(frozen=True)
class OpenAllowance:
    """Hold a tier's newest allowance that was not taken back, and what is spent of it.

    ``entries`` is the number of queries that were registered under this version.
    """

    dataset: str
    tier: Tier
    row: Allowance
    account: Account
    spent: Entry
    entries: int

    @property
    def users(self) -> list[int] | None:
        """Return the numbers of the users who may use it; ``None`` is everybody at the tier."""
        return None if self.row.users is None else list(json.loads(self.row.users))

    def covers(self, user_id: int) -> bool:
        """Return True if a holder of the tier may use it."""
        return self.users is None or user_id in self.users

    def share(self, entry: Entry) -> float:
        """Return a loss as a share of the allowance."""
        return entry.loss / limit_of(self.account).loss

    @property
    def left(self) -> float:
        """Return the share that is left."""
        return self.share(left_of(self.account, self.spent))


def newest(session: Session, dataset_id: int, tier_id: int) -> Allowance | None:
    """Return the newest version of a tier's allowance in a dataset, also if it was taken back."""
    return session.exec(
        select(Allowance)
        .where(col(Allowance.dataset_id) == dataset_id, col(Allowance.tier_id) == tier_id)
        .order_by(col(Allowance.version).desc())
        .limit(1)
    ).first()


def opened(session: Session, dataset: Dataset, tier: Tier) -> OpenAllowance | None:
    """Return the allowance that a tier has now; ``None`` if it has none."""
    row = newest(session, required(dataset.id), required(tier.id))
    if row is None or row.epsilon is None or tier.deleted_at is not None:
        return None
    last = session.exec(
        select(AllowanceCharge)
        .where(col(AllowanceCharge.allowance_id) == row.id)
        .order_by(col(AllowanceCharge.seq).desc())
        .limit(1)
    ).first()
    spent = Entry(row.spent_loss, row.spent_failure)
    if last is not None:
        spent = Entry(last.loss_total, last.failure_total)
    account = account_of(row.epsilon, row.delta, row.order)
    entries = 0 if last is None else last.seq + 1
    return OpenAllowance(dataset.name, tier, row, account, spent, entries)


def own(session: Session, principal: Principal, dataset: Dataset) -> OpenAllowance | None:
    """Return the allowance that the caller may register queries under now, or ``None``.

    It is that of the tier that they hold, and of no other: who is given another clearance loses it.
    Who ever held a tier above it has none, since what they ask may tell what they had read there.
    """
    if principal.user_id is None or "analyst" not in principal.roles:
        return None
    tier = clearance_of(session, principal.user_id)
    if tier is None or higher_before(session, principal.user_id, tier) is not None:
        return None
    allowance = opened(session, dataset, tier)
    return allowance if allowance is not None and allowance.covers(principal.user_id) else None


def higher_before(session: Session, user_id: int, tier: Tier) -> Tier | None:
    """Return the most trusted tier that somebody ever held, if it is above ``tier``."""
    highest = highest_ever(session, [user_id])
    above = highest is not None and highest.id != tier.id and place(highest) > place(tier)
    return highest if above else None


def require_own(session: Session, principal: Principal, dataset: Dataset) -> OpenAllowance:
    """Return the same.  Raises ``Forbidden`` without one."""
    allowance = own(session, principal, dataset)
    if allowance is None:
        _require_never_above(session, principal)
        raise Forbidden(
            f"Registering a query takes the role admin, or an allowance of dataset"
            f" {dataset.name!r} for your tier, which {principal.name} does not have. Ask an admin"
            " for an allowance, or to register the query."
        )
    return allowance


def _require_never_above(session: Session, principal: Principal) -> None:
    """Raise ``Forbidden`` for an analyst who held a tier above their own before."""
    tier = None if principal.user_id is None else clearance_of(session, principal.user_id)
    if tier is None or principal.user_id is None:
        return
    higher = higher_before(session, principal.user_id, tier)
    if higher is not None:
        raise Forbidden(
            f"{principal.name} held tier {higher.name!r} before, which is above {tier.name!r}."
            f" Which question somebody asks may tell what they had read, and a query under an"
            f" allowance of {tier.name!r} would be visible to that tier. Request the query instead:"
            " an admin decides who sees it."
        )


def require_same(
    session: Session, principal: Principal, dataset: Dataset, settled: OpenAllowance
) -> OpenAllowance:
    """Return the caller's allowance as it is under the lock on its dataset.

    Raises ``Forbidden`` without one, and ``Conflict`` if it is another than the ``settled`` one,
    by whose account the query was priced.
    """
    now = require_own(session, principal, dataset)
    if now.row.id != settled.row.id:
        raise Conflict("The allowance changed in the meantime; try again.")
    return now


def require_room(session: Session, allowance: OpenAllowance, new: Entry) -> None:
    """Raise ``BudgetExhausted`` unless an allowance has room for a query."""
    shortfall = check(allowance.account, allowance.spent, new)
    if shortfall is None:
        return
    shares = spending(session, allowance)
    listed = shares[:MOST_NAMED]
    named = ", ".join(f"{name} ({share:.3g})" for name, _, share in listed)
    more = len(shares) - len(listed)
    by = f" Spent by: {named}{f' and {more} more' if more > 0 else ''}." if named else ""
    words = shortfall.explanation().replace("of the budget's", "of the allowance's")
    words = words.replace("that the budget keeps", "that the allowance keeps")
    raise BudgetExhausted(
        f"The allowance of tier {allowance.tier.name!r} in dataset {allowance.dataset!r} (epsilon"
        f" {allowance.account.epsilon:g}, delta {allowance.account.delta:g}) does not allow it."
        f" {words} Take more noise, or ask an admin for a larger allowance.{by}",
        allowance=allowance.tier.name,
        tier=allowance.tier.name,
        needed_share=shortfall.needed_share,
        remaining_share=allowance.left,
        largest_share=shortfall.largest_share,
        spent_by=[{"query": name, "share": share} for name, _, share in listed],
    )


def take(
    session: Session, allowance: OpenAllowance, query: Query, rung: int, new: Entry, at: datetime
) -> None:
    """Add what a query counts for; the caller has checked, under the lock, that it fits."""
    row = {
        "allowance_id": required(allowance.row.id),
        "seq": allowance.entries,
        "query_id": required(query.id),
        "rung": rung,
        "loss": new.loss,
        "failure": new.failure,
        "loss_total": allowance.spent.loss + new.loss,
        "failure_total": allowance.spent.failure + new.failure,
        "at": at,
    }
    store_signed(session, AllowanceCharge, [row])


def spending(session: Session, allowance: OpenAllowance) -> list[tuple[str, str, float]]:
    """Return the queries that spent an allowance, who registered each, and its share.

    Those of earlier versions count as they would at the present order; the largest come first.
    """
    rows = registered(session, allowance.row.dataset_id, required(allowance.tier.id))
    shares = []
    for query, charge in rows:
        same = charge.allowance_id == allowance.row.id
        cost = (
            Entry(charge.loss, charge.failure) if same else _price(query, charge, allowance.account)
        )
        shares.append((query.readable, query.by, allowance.share(cost)))
    return sorted(shares, key=lambda item: (-item[2], item[0]))


def registered(
    session: Session, dataset_id: int, tier_id: int
) -> Sequence[tuple[Query, AllowanceCharge]]:
    """Return the queries that were registered under any version of an allowance, oldest first."""
    return session.exec(
        select(Query, AllowanceCharge)
        .join(AllowanceCharge, col(AllowanceCharge.query_id) == col(Query.id))
        .join(Allowance, col(AllowanceCharge.allowance_id) == col(Allowance.id))
        .where(col(Allowance.dataset_id) == dataset_id, col(Allowance.tier_id) == tier_id)
        .order_by(col(Query.id))
    ).all()


def spent_at(session: Session, dataset_id: int, tier_id: int, account: Account) -> Entry:
    """Return what the queries registered so far count for, priced anew by an account.

    An allowance that is given again, larger or smaller, has the order that suits its epsilon.
    """
    rows = registered(session, dataset_id, tier_id)
    return total(_price(query, charge, account) for query, charge in rows)


def _price(query: Query, charge: AllowanceCharge, account: Account) -> Entry:
    kind = kind_of(query)
    return kind.price(charge.rung, account, kind.charged_numbers(query), query.max_levels)
