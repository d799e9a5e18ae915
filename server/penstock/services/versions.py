"""The versions of a dataset, and which of them one privacy unit may be in.

A version is new data under the same name, with budgets of its own.  Somebody may be in
several versions, and then what these lost adds up; unless an admin stated that nobody in
a version is in any earlier one.
"""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from penstock.persistence.tables import Dataset


def versions_of(session: Session, dataset: Dataset) -> list[Dataset]:
    """All versions of the dataset that ``dataset`` is one of, the oldest first.

    Those that were withdrawn count nowhere: nothing was ever charged in them.
    """
    return list(
        session.exec(
            select(Dataset)
            .where(col(Dataset.folded) == dataset.folded, col(Dataset.withdrawn_at).is_(None))
            .order_by(col(Dataset.version))
        ).all()
    )


def by_dataset(session: Session) -> list[list[Dataset]]:
    """The versions of every dataset, in the order in which the first were registered."""
    found: dict[str, list[Dataset]] = {}
    standing = select(Dataset).where(col(Dataset.withdrawn_at).is_(None))
    for version in session.exec(standing.order_by(col(Dataset.id))).all():
        found.setdefault(version.folded, []).append(version)
    return list(found.values())


def chains(versions: Sequence[Dataset]) -> list[list[Dataset]]:
    """The largest sets of versions that one privacy unit may be in, from the oldest on.

    A version with units of its own begins a new chain; any other may hold units of every
    chain so far, and goes on with each.  What a dataset lost is the largest sum over a
    chain (parallel composition, McSherry 2009, which needs add_remove).
    """
    found: list[list[Dataset]] = []
    for version in versions:
        if version.disjoint_units or not found:
            found.append([version])
        else:
            for chain in found:
                chain.append(version)
    return found
