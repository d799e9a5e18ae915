"""Add up what accounts have spent, as the witness keeps it."""

from sqlalchemy import and_
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, func, select

from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.ledger import Charge


def accounts(session: Session) -> dict[str, tuple[int, int]]:
    """Return what every account has spent, by ``dataset@version/tier`` (the tier by its key)."""
    # By account, from its last charge: there may be very many charges.
    pairs = select(TierBudget.dataset_id, TierBudget.tier_id).distinct().subquery()
    mine = aliased(Charge)
    last = (
        select(func.max(col(mine.seq)))
        .where(col(mine.dataset_id) == pairs.c.dataset_id, col(mine.tier_id) == pairs.c.tier_id)
        .scalar_subquery()
    )
    same = and_(
        col(Charge.dataset_id) == pairs.c.dataset_id,
        col(Charge.tier_id) == pairs.c.tier_id,
        col(Charge.seq) == last,
    )
    rows = session.exec(
        select(Charge, Dataset)
        .select_from(pairs)
        .join(Charge, same)
        .join(Dataset, col(Charge.dataset_id) == col(Dataset.id))
    ).all()
    return {
        account_name(dataset, row.tier_id): (row.loss_total, row.failure_total)
        for row, dataset in rows
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
