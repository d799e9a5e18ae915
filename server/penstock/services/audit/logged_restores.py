"""Write the leaves of restores, and hold what they left in the tables to them.

What an account has spent has no leaf: its charges are added up, and no account may have spent
less than the witness saw, unless a restore says that it is lost.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.ledger import Charge, SpentFloor
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.leaves import AppendedLeaf
from penstock.transparency_log.logged_subject import LeafFields
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.spending import account_name, peaks

Account = tuple[int, int]
"""The row numbers of a dataset and a tier."""


def record_restore(
    session: Session,
    principal: Principal,
    at: datetime,
    *,
    frozen: int,
    floors: int,
    lost_accounts: Sequence[str],
    **own: Any,
) -> AppendedLeaf:
    """Append the leaf of a restore that was acknowledged.

    ``frozen`` queries draw nothing any more, ``floors`` rows say what accounts spent before it,
    and of ``lost_accounts`` nobody knows which datasets they were.
    """
    fields = {**own, "frozen": frozen, "charged": floors, "accounts": lost_accounts}
    return record(session, principal, "restore", at, **fields)


class LoggedRestores:
    """Hold what restores did by the log: floors of accounts, lost accounts and frozen queries."""

    def __init__(self) -> None:
        self._floors = 0
        self._frozen = 0
        self._lost: set[str] = set()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a restore, or of a budget that took floors over."""
        if leaf["kind"] in {"budget", "restore"}:
            self._floors += leaf.get("charged", 0)
        if leaf["kind"] == "restore":
            self._frozen += leaf.get("frozen", 0)
            self._lost |= set(leaf.get("accounts", ()))

    def differences(self, session: Session, seen: Sight) -> Iterator[str]:
        """Yield messages where charges do not add up, or where floors or frozen queries differ."""
        floors = session.exec(select(SpentFloor)).all()
        yield from _wrong_sums(session, floors)
        yield from self._less_than_seen(session, floors, seen)
        if len(floors) != self._floors:
            yield "what was spent before a restore is not what the log has"
        queries = session.exec(select(Query)).all()
        if sum(query.frozen is not None for query in queries) != self._frozen:
            yield "the queries frozen by a restore are not those of the log"

    def _less_than_seen(
        self, session: Session, floors: Sequence[SpentFloor], seen: Sight
    ) -> Iterator[str]:
        spent = peaks(session)
        datasets = {dataset.id: dataset for dataset in session.exec(select(Dataset)).all()}
        for floor in floors:
            if (dataset := datasets.get(floor.dataset_id)) is not None:
                name = account_name(dataset, floor.tier_id)
                loss, failure = spent.get(name, (0, 0))
                spent[name] = max(loss, floor.loss), max(failure, floor.failure)
        for name, (loss, failure) in seen.accounts.items():
            here = spent.get(name, (0, 0))
            if (here[0] < loss or here[1] < failure) and name not in self._lost:
                yield f"account {name} has spent less than the witness saw"


def _wrong_sums(session: Session, floors: Sequence[SpentFloor]) -> Iterator[str]:
    """Yield a message per charge whose totals are not those before it and its own."""
    totals: dict[Account, tuple[int, int, int]] = {}
    for row in session.exec(select(Charge).order_by(col(Charge.seq))).all():
        account = row.dataset_id, row.tier_id
        seq, loss, failure = totals.get(account, (0, 0, 0))
        # After a restore an account continues from what it is known to have spent.
        first = {(loss, failure)} | {
            (max(loss, floor.loss), max(failure, floor.failure))
            for floor in floors
            if (floor.dataset_id, floor.tier_id) == account
        }
        start = row.loss_total - row.loss, row.failure_total - row.failure
        if row.seq != seq or start not in first:
            yield f"the charges of tier {row.tier_id} in dataset {row.dataset_id} do not add up"
        totals[account] = row.seq + 1, row.loss_total, row.failure_total
