"""Add up what accounts have spent, as the witness keeps it."""

from sqlalchemy import func
from sqlalchemy import select as core_select
from sqlmodel import Session, select

from penstock.persistence.row_authentication import authentic_row, signed_columns
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.ledger import Charge

_BUDGET, _CHARGE, _DATASET = (
    metadata.tables[name] for name in ("tier_budget", "charge", "dataset")
)
_ENTRY = _CHARGE.alias()

# Built once, and without entities: every charge needs it.  By account, from its last charge: there
# may be very many charges.
_ACCOUNTS = core_select(_BUDGET.c.dataset_id, _BUDGET.c.tier_id).distinct().subquery()
_LAST_SEQ = (
    core_select(func.max(_ENTRY.c.seq))
    .where(_ENTRY.c.dataset_id == _ACCOUNTS.c.dataset_id, _ENTRY.c.tier_id == _ACCOUNTS.c.tier_id)
    .scalar_subquery()
)
_LAST = Prepared(
    core_select(*signed_columns(_CHARGE))
    .select_from(_ACCOUNTS)
    .join(
        _CHARGE,
        (_CHARGE.c.dataset_id == _ACCOUNTS.c.dataset_id)
        & (_CHARGE.c.tier_id == _ACCOUNTS.c.tier_id)
        & (_CHARGE.c.seq == _LAST_SEQ),
    )
)
_DATASETS = Prepared(core_select(_DATASET.c.id.label("number"), *signed_columns(_DATASET)))


def accounts(session: Session) -> dict[str, tuple[int, int]]:
    """Return what every account has spent, by ``dataset@version/tier`` (the tier by its key)."""
    session.flush()
    connection = session.connection()
    rows = [
        authentic_row(session, "charge", list(row.values())) for row in _LAST.every(connection, {})
    ]
    charged = {row["dataset_id"] for row in rows if row}
    versions = [
        authentic_row(session, "dataset", values)
        for number, *values in (row.values() for row in _DATASETS.every(connection, {}))
        if number in charged
    ]
    names = {row["id"]: f"{row['folded']}@{row['version']}" for row in versions if row}
    return {
        f"{names[row['dataset_id']]}/{row['tier_id']}": (row["loss_total"], row["failure_total"])
        for row in rows
        if row and row["dataset_id"] in names
    }


def peaks(session: Session) -> dict[str, tuple[int, int]]:
    """Return the most that every account ever had spent, named as in ``accounts``.

    The witness saw that maximum, though less may be spent now: a repriced query may cost less loss
    or less failure than before (``repricing``).
    """
    names = {row.id: row for row in session.exec(select(Dataset)).all()}
    peaks_by_account: dict[str, tuple[int, int]] = {}
    for row in session.exec(select(Charge)):
        dataset = names.get(row.dataset_id)
        if dataset is None:
            continue
        name = account_name(dataset, row.tier_id)
        loss, failure = peaks_by_account.get(name, (0, 0))
        peaks_by_account[name] = max(loss, row.loss_total), max(failure, row.failure_total)
    return peaks_by_account


def account_name(dataset: Dataset, tier_id: int) -> str:
    """Return the account's key in the witness file, ``dataset@version/tier_id``."""
    return f"{dataset.folded}@{dataset.version}/{tier_id}"
