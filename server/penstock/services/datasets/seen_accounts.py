"""Read a dataset with its tiers' accounts in one statement, and see whether that changed since.

A registration reads them twice: first to quote, then under the lock on the dataset.  The rows that
are the same the second time were authenticated the first time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ColumnElement, Label, Select, func, select

from penstock.persistence.row_authentication import (
    Informed,
    accepted_keys,
    authentic_row,
    signed_columns,
)
from penstock.persistence.statements.entities import made
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.datasets.declarations import Declared
from penstock.services.ledger.accounts import TierAccount, stored_account
from penstock.services.ledger.charges import Accounts

Row = Mapping[str, Any]
"""A row of the joined tables, by the names of its columns."""

FLAG: Final = "flag"
"""The name of what the caller asks beside the tables."""

_DATASET, _TIER, _FLOOR = (metadata.tables[name] for name in ("dataset", "tier", "spent_floor"))
_BUDGET, _CHARGE = metadata.tables["tier_budget"], metadata.tables["charge"]


def statement(of: ColumnElement[bool], flag: ColumnElement[bool]) -> Select[Any]:
    """Return the statement that reads a dataset with its accounts, and ``flag``: a row a tier."""
    tables = (_DATASET, _TIER, _BUDGET, _CHARGE)
    columns: list[Label[Any]] = []
    for table in tables:
        columns += [own.label(f"{table.name}_{own.name}") for own in signed_columns(table)]
    return (
        select(*columns, select(_FLOOR.c.id).exists().label("lost"), flag.label(FLAG))
        .select_from(_DATASET)
        .outerjoin(_TIER, _TIER.c.deleted_at.is_(None))
        .outerjoin(_BUDGET, _newest("tier_budget", "version"))
        .outerjoin(_CHARGE, _newest("charge", "seq"))
        .where(of)
        .order_by(_TIER.c.rank)
    )


def _newest(name: str, column: str) -> ColumnElement[bool]:
    """Return the condition for the newest row of a tier's account in a table."""
    table, other = metadata.tables[name], metadata.tables[name].alias()
    newest = select(func.max(other.c[column])).where(
        other.c.dataset_id == _DATASET.c.id, other.c.tier_id == _TIER.c.id
    )
    own = (table.c.dataset_id == _DATASET.c.id) & (table.c.tier_id == _TIER.c.id)
    return own & (table.c[column] == newest.correlate(_DATASET, _TIER).scalar_subquery())


def _taken(name: str) -> Callable[[Row], tuple[Any, ...]]:
    own = signed_columns(metadata.tables[name])
    return itemgetter(*(f"{name}_{column.name}" for column in own))


_TAKEN: Final = {name: _taken(name) for name in ("dataset", "tier", "tier_budget", "charge")}


@dataclass(frozen=True)
class SeenDataset:
    """Hold a dataset and its tiers' accounts, with the rows that they were made of.

    There are no rows if others were read as well.
    """

    dataset: Dataset
    accounts: Accounts
    rows: Sequence[Row] = ()
    keys: tuple[bytes, ...] = ()

    @property
    def declared(self) -> Declared:
        """Return what may change of the dataset."""
        known = self.dataset
        return Declared(known.withdrawn_at, known.declaration, known.wrapped_kek)

    def is_same(self, session: Informed, rows: Sequence[Row]) -> bool:
        """Return True if ``rows`` are those that were seen, and their keys are accepted still."""
        return bool(self.rows) and self.rows == rows and self.keys == accepted_keys(session)


def seen(session: Informed, rows: Sequence[Row]) -> SeenDataset | None:
    """Return what the rows of ``statement``, without their flag, hold of a dataset.

    It is None if an account depends on other rows: what was lost, or grants before the newest.
    Raises ``IntegrityViolation``.
    """
    columns = authentic_row(session, "dataset", _TAKEN["dataset"](rows[0]))
    if columns is None or any(row["lost"] for row in rows):
        return None
    accounts: list[tuple[Tier, TierAccount | None]] = []
    for row in rows:
        tier_columns, budget, last = (
            authentic_row(session, name, _TAKEN[name](row))
            for name in ("tier", "tier_budget", "charge")
        )
        if tier_columns is None:
            continue
        tier = made(Tier, {**tier_columns, "mac": row["tier_mac"]})
        account = None
        if budget is not None:
            if budget["highest_epsilon"] is None:
                return None
            account = stored_account(tier, budget, budget["highest_epsilon"], last)
        accounts.append((tier, account))
    dataset = made(Dataset, {**columns, "mac": rows[0]["dataset_mac"]})
    return SeenDataset(dataset, accounts, rows, accepted_keys(session))


def declared(session: Informed, row: Row) -> Declared | None:
    """Return what may have changed of the dataset in a row.  Raises ``IntegrityViolation``."""
    columns = authentic_row(session, "dataset", _TAKEN["dataset"](row))
    if columns is None:
        return None
    return Declared(columns["withdrawn_at"], columns["declaration"], columns["wrapped_kek"])
