"""Keep the ledger in the database: budgets by tier, charges, and refusals for lack of budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, bindparam
from sqlalchemy import select as core_select
from sqlmodel import Session, col, func, select
from sqlmodel.sql.expression import SelectOfScalar

from penstock.accounting.charging.budget import SQUARES, Account, account_of, require_delta
from penstock.accounting.charging.ledger import (
    NOTHING,
    Entry,
    Shortfall,
    check,
    largest_part,
    left_of,
    limit_of,
    total,
)
from penstock.connectors.planning.refusals import pointer, within
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.persistence.row_authentication import (
    authentic_row,
    signed_columns,
    store_signed,
)
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import TierBudget
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Tier
from penstock.services.repository.charges import charges_in_sight
from penstock.services.schemas.queries import Accountant, BudgetSpec
from penstock.spec_fields import folded

HEAVIEST_SHOWN = 10

_TIER, _BUDGET, _CHARGE, _FLOOR = (
    metadata.tables[name] for name in ("tier", "tier_budget", "charge", "spent_floor")
)
_GRANT, _ENTRY = _BUDGET.alias(), _CHARGE.alias()

_NEWEST = core_select(func.max(_GRANT.c.version)).where(
    _GRANT.c.dataset_id == bindparam("dataset_id"), _GRANT.c.tier_id == _TIER.c.id
)
_LAST = core_select(func.max(_ENTRY.c.seq)).where(
    _ENTRY.c.dataset_id == bindparam("dataset_id"), _ENTRY.c.tier_id == _TIER.c.id
)


def _own(table: Table, column: str, newest: Select[Any]) -> ColumnElement[bool]:
    """Return the condition for the newest row of a tier in a table."""
    own = (table.c.dataset_id == bindparam("dataset_id")) & (table.c.tier_id == _TIER.c.id)
    return own & (table.c[column] == newest.correlate(_TIER).scalar_subquery())


_LOST = core_select(_FLOOR.c.id).exists()
_OPEN = (
    core_select(Tier, *signed_columns(_BUDGET), *signed_columns(_CHARGE), _LOST)
    .select_from(_TIER)
    .outerjoin(_BUDGET, _own(_BUDGET, "version", _NEWEST))
    .outerjoin(_CHARGE, _own(_CHARGE, "seq", _LAST))
    .order_by(_TIER.c.rank)
)
"""Tiers, the newest budget of each, the last charge to its account, and whether any was lost."""

_OPEN_TO_ALL = _OPEN.where(_TIER.c.deleted_at.is_(None))
_OPEN_AT_TIER = _OPEN.where(_TIER.c.id == bindparam("tier_id"))
_SPLIT = len(signed_columns(_BUDGET))
_FLOORS = core_select(*signed_columns(_FLOOR))

_account = lru_cache(maxsize=1024)(account_of)

Row = Mapping[str, Any]
"""An authenticated row, by its columns."""


@dataclass(frozen=True)
class TierAccount:
    """Hold a tier's account in one dataset: what it may spend, and what it has spent.

    ``entries`` is the number of charges, which is the ``seq`` of the next one.
    """

    tier: Tier
    account: Account
    spent: Entry
    entries: int


def opened_account(epsilon: float, delta: float, accountant: Accountant) -> Account:
    """Return the account of a budget that is set for the first time.  Raises ``InvalidInput``."""
    return account_of(epsilon, delta, SQUARES if accountant == "gaussian" else None)


def resolve(
    budgets: Mapping[str, BudgetSpec],
    tiers: Sequence[Tier],
    delta: float,
    accountant: Accountant,
) -> dict[str, Account]:
    """Return the account of every tier, by its name, from the budgets that a dataset lists.

    ``tiers`` come least trusted first.  A tier that is not listed has the budget of the next lower
    listed one, or none if there is no lower one.  Raises ``InvalidInput`` for a tier that does not
    exist and for budgets that shrink as rank rises.
    """
    require_delta(delta)
    if accountant == "gaussian" and delta == 0:
        raise InvalidInput(
            "The accountant 'gaussian' takes only Gaussian noise, which needs a delta above 0,"
            " such as 1e-6; use 'renyi' for a delta of 0.",
            pointer="/accountant",
        )
    named = {folded(name): (name, budget) for name, budget in budgets.items()}
    for name in budgets:
        if folded(name) not in {tier.folded for tier in tiers}:
            raise InvalidInput(
                f"There is no tier {name!r}; create it first, or leave its budget out.",
                pointer=pointer("budgets", name),
            )
    accounts: dict[str, Account] = {}
    current: tuple[str, Account] | None = None
    for tier in tiers:
        if tier.folded in named:
            name, budget = named[tier.folded]
            with within("budgets", name):
                account = opened_account(budget.epsilon, delta, accountant)
            if current is not None and account.epsilon < current[1].epsilon:
                raise InvalidInput(
                    f"The budget of {tier.name!r} is epsilon {account.epsilon:g}, below that of the"
                    f" less trusted {current[0]!r}, {current[1].epsilon:g};"
                    " budgets must not shrink as rank rises.",
                    pointer=pointer("budgets", name),
                )
            current = (tier.name, account)
        if current is not None:
            accounts[tier.name] = current[1]
    return accounts


def budget_row(
    account: Account, *, dataset_id: int, tier_id: int, version: int, at: datetime, by: str
) -> TierBudget:
    """Return an account as its row."""
    limit = limit_of(account)
    return TierBudget(
        dataset_id=dataset_id,
        tier_id=tier_id,
        version=version,
        epsilon=account.epsilon,
        delta=account.delta,
        order=account.order,
        limit_loss=limit.loss,
        limit_failure=limit.failure,
        at=at,
        by=by,
        highest_epsilon=account.promised,
    )


def open_account(session: Session, dataset_id: int, tier: Tier) -> TierAccount | None:
    """Return a tier's present account; ``None`` if the tier has no budget."""
    key = {"dataset_id": dataset_id, "tier_id": required(tier.id)}
    return next((account for _, account in _read(session, _OPEN_AT_TIER, key)), None)


def open_accounts(session: Session, dataset_id: int) -> list[tuple[Tier, TierAccount | None]]:
    """Return every tier that is not deleted, least trusted first, and its account or ``None``."""
    return _read(session, _OPEN_TO_ALL, {"dataset_id": dataset_id})


def _read(
    session: Session, statement: Select[Any], key: Mapping[str, int]
) -> list[tuple[Tier, TierAccount | None]]:
    accounts: list[tuple[Tier, TierAccount | None]] = []
    floors: Sequence[Row] = ()
    for tier, *values, lost in session.execute(statement, key):
        if lost and not floors:
            floors = _floors(session)
        budget = authentic_row(session, "tier_budget", values[:_SPLIT])
        last = authentic_row(session, "charge", values[_SPLIT:])
        account = None if budget is None else _opened(session, tier, budget, last, floors)
        accounts.append((tier, account))
    return accounts


def _opened(
    session: Session, tier: Tier, budget: Row, last: Row | None, floors: Sequence[Row]
) -> TierAccount:
    dataset_id, highest = budget["dataset_id"], budget["highest_epsilon"]
    if highest is None:
        granted = select(TierBudget).where(
            col(TierBudget.dataset_id) == dataset_id, col(TierBudget.tier_id) == tier.id
        )
        highest = max(row.epsilon for row in session.exec(granted).all())
    return stored_account(tier, budget, highest, last, _of(floors, dataset_id, tier))


def stored_account(
    tier: Tier, budget: Row, highest: float, last: Row | None, floors: Sequence[Entry] = ()
) -> TierAccount:
    """Return an account from its newest budget, and the last charge to it."""
    return TierAccount(
        tier=tier,
        account=_account(budget["epsilon"], budget["delta"], budget["order"], highest),
        spent=_at_least(floors, last),
        entries=last["seq"] + 1 if last else 0,
    )


def _at_least(floors: Sequence[Entry], last: Row | None) -> Entry:
    """Return what was spent: the last totals, or at least the floors if charges were lost."""
    charged = Entry(last["loss_total"], last["failure_total"]) if last else NOTHING
    return Entry(
        max(charged.loss, *(row.loss for row in floors), 0),
        max(charged.failure, *(row.failure for row in floors), 0),
    )


def floors_of(session: Session, dataset_id: int, tier: Tier) -> list[Entry]:
    """Return the least that an account is known to have spent, if charges were lost."""
    return _of(_floors(session), dataset_id, tier)


def _floors(session: Session) -> list[Row]:
    # All rows, which are few: so a row that was moved to another account is detected.
    session.flush()
    rows = session.connection().execute(_FLOORS).all()
    floors = [authentic_row(session, "spent_floor", values) for values in rows]
    return [floor for floor in floors if floor is not None]


def _of(floors: Sequence[Row], dataset_id: int, tier: Tier) -> list[Entry]:
    return [
        Entry(row["loss"], row["failure"])
        for row in floors
        if (row["dataset_id"], row["tier_id"]) == (dataset_id, tier.id)
    ]


def charged_to(session: Session, dataset_id: int, tier: Tier) -> Entry:
    """Return the sum of an account's charges: all that it has spent, unless some were lost."""
    return total(Entry(row.loss, row.failure) for row in session.exec(charges_to(dataset_id, tier)))


def charges_to(dataset_id: int, tier: Tier) -> SelectOfScalar[Charge]:
    """Select the charges of an account."""
    return select(Charge).where(
        col(Charge.dataset_id) == dataset_id, col(Charge.tier_id) == tier.id
    )


def require_room(
    session: Session,
    dataset_id: int,
    needed: Sequence[tuple[TierAccount, Entry]],
    limit: Tier | None = None,
) -> None:
    """Raise ``BudgetExhausted``, with queries that ``limit`` sees, unless all charges fit."""
    accounts = {required(account.tier.id): account for account, _ in needed}
    sums = dict.fromkeys(accounts, NOTHING)
    for account, new in needed:
        sums[required(account.tier.id)] += new
    for key, account in accounts.items():
        new = sums[key]
        shortfall = check(account.account, account.spent, new)
        if shortfall is not None:
            scarcest: Tier | None = None
            if shortfall.largest_share > 0:
                # A share is taken of every tier's budget, so the scarcest one decides.
                other = min(accounts.values(), key=largest_share)
                fits = largest_share(other)
                if fits < shortfall.largest_share:
                    shortfall = replace(shortfall, largest_share=fits)
                    scarcest = other.tier if other.tier.id != account.tier.id else None
            spent = spending(session, dataset_id, account, limit)
            raise _refusal(account, shortfall, scarcest, spent)


def overdrawn(
    session: Session, dataset_id: int, account: TierAccount, epsilon: float, limit: Entry | None
) -> BudgetExhausted:
    """Return the error for a budget below what is spent; a ``limit`` of ``None`` is 0."""
    spent, allowed = account.spent, limit or NOTHING
    listed = spending(session, dataset_id, account)[:HEAVIEST_SHOWN]
    return BudgetExhausted(
        f"{account.account.called} of {spent.cost.loss:.6g} is spent by tier"
        f" {account.tier.name!r}, and a budget of epsilon {epsilon:g} would allow"
        f" {allowed.cost.loss:.6g}. The budget was not changed, since it cannot be below what is"
        " spent. Set a larger budget.",
        tier=account.tier.name,
        needed_share=spent.loss / allowed.loss if allowed.loss else None,
        remaining_share=0.0,
        largest_share=0.0,
        spent_by=[{"query": name, "share": share} for name, share in listed],
    )


def append_charges(
    session: Session,
    due: Iterable[tuple[TierAccount, int, int, Entry]],
    *,
    dataset_id: int,
    at: datetime,
) -> None:
    """Add charges in order: account, key of the query, rung and cost of each.

    Accounts are in their state before the first; the caller has checked that all fit.
    """
    current: dict[int, TierAccount] = {}
    rows = []
    for settled, query_id, rung, new in due:
        key = required(settled.tier.id)
        account = current.get(key, settled)
        rows.append(
            _charge(account, new, dataset_id=dataset_id, query_id=query_id, rung=rung, at=at)
        )
        current[key] = replace(account, spent=account.spent + new, entries=account.entries + 1)
    if rows:
        store_signed(session, Charge, rows)


def _charge(
    account: TierAccount,
    new: Entry,
    *,
    dataset_id: int,
    query_id: int,
    rung: int,
    at: datetime,
) -> dict[str, object]:
    """Return the row of a charge, with the running totals; the caller has checked that it fits."""
    return {
        "dataset_id": dataset_id,
        "tier_id": required(account.tier.id),
        "seq": account.entries,
        "query_id": query_id,
        "rung": rung,
        "order": account.account.order,
        "loss": new.loss,
        "failure": new.failure,
        "loss_total": account.spent.loss + new.loss,
        "failure_total": account.spent.failure + new.failure,
        "at": at,
    }


def spending(
    session: Session, dataset_id: int, account: TierAccount, limit: Tier | None = None
) -> list[tuple[str, float]]:
    """Return the queries that spent an account, of those that ``limit`` sees, by their shares."""
    available = limit_of(account.account).loss
    shares: dict[str, float] = {}
    for charge in charges_in_sight(session, dataset_id, account.tier, limit):
        shares[charge.query] = shares.get(charge.query, 0.0) + charge.loss / available
    return sorted(shares.items(), key=lambda item: (-item[1], item[0]))


def largest_share(account: TierAccount) -> float:
    """Return the largest share of an account whose loss would still fit."""
    left = left_of(account.account, account.spent)
    return largest_part(limit_of(account.account).loss, left.loss)


def called(tier: Tier) -> str:
    """Return a tier's name as messages write it."""
    if tier.deleted_at is None:
        return f"tier {tier.name!r}"
    return f"tier {tier.name!r}, which was deleted but whose former users still count,"


def _refusal(
    account: TierAccount,
    shortfall: Shortfall,
    scarcest: Tier | None,
    spent: Sequence[tuple[str, float]],
) -> BudgetExhausted:
    """Return the error for charges that do not fit; ``scarcest`` also limits the share."""
    listed = ", ".join(f"{name} ({share:.3g})" for name, share in spent[:HEAVIEST_SHOWN])
    more = len(spent) - HEAVIEST_SHOWN
    advice = shortfall.advice(called(scarcest) if scarcest else None)
    by = f" Spent by: {listed}{f' and {more} more' if more > 0 else ''}." if spent else ""
    return BudgetExhausted(
        f"The budget of {called(account.tier)} (epsilon {account.account.epsilon:g}, delta"
        f" {account.account.delta:g}) does not allow it. {shortfall.explanation()} {advice}{by}",
        advice=advice,
        tier=account.tier.name,
        needed_share=shortfall.needed_share,
        remaining_share=shortfall.left.loss / limit_of(account.account).loss,
        largest_share=shortfall.largest_share,
        spent_by=[{"query": name, "share": share} for name, share in spent[:HEAVIEST_SHOWN]],
    )
