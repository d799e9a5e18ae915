"""Find datasets by name."""

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.tables.datasets import Dataset
from penstock.spec_fields import folded

_DATASET = (
    select(Dataset)
    .where(col(Dataset.folded) == bindparam("folded"), col(Dataset.withdrawn_at).is_(None))
    .order_by(col(Dataset.version).desc())
    .limit(1)
)


def dataset_by_name(session: Session, name: str) -> Dataset:
    """Return the newest version of a dataset that was not withdrawn.  Raises ``NotFound``."""
    dataset = session.exec(_DATASET, params={"folded": folded(name)}).first()
    if dataset is None:
        raise no_dataset(name)
    return dataset


def no_dataset(name: str) -> NotFound:
    """Return the error for a name that no dataset has."""
    return NotFound(f"There is no dataset {name!r}.")
