"""Find the versions of a dataset, and those that one privacy unit may be in.

A version is new data under the same name, with its own budgets.  One person may be in several
versions, and then their losses add up; unless an admin stated that nobody in a version is in any
earlier one.  Datasets that were declared to hold the same people (``same_people``) count together
as versions of one dataset do.
"""

from collections.abc import Sequence
from itertools import product

from sqlmodel import Session, col, select

from penstock.errors import NotFound
from penstock.persistence.tables.datasets import Dataset
from penstock.spec_fields import folded


def versions_of(session: Session, dataset: Dataset) -> list[Dataset]:
    """Return all versions of the dataset of which ``dataset`` is one, the oldest first.

    Withdrawn ones never count: nothing was charged in them.
    """
    versions = all_versions(session, dataset.folded)
    return [version for version in versions if version.withdrawn_at is None]


def all_versions(session: Session, folded_name: str) -> Sequence[Dataset]:
    """Return the versions of a name, withdrawn ones included, the oldest first."""
    return session.exec(
        select(Dataset).where(col(Dataset.folded) == folded_name).order_by(col(Dataset.version))
    ).all()


def versions_named(session: Session, name: str) -> Sequence[Dataset]:
    """Return the versions of a dataset, as ``all_versions`` does.  Raises ``NotFound``."""
    versions = all_versions(session, folded(name))
    if not versions:
        raise NotFound(f"There is no dataset {name!r}.")
    return versions


def last_version(session: Session, dataset: Dataset) -> int:
    """Return the number of the last version, withdrawn ones included."""
    return all_versions(session, dataset.folded)[-1].version


def of_same_people(session: Session, dataset: Dataset) -> list[Dataset]:
    """Return all versions of all datasets that hold the people of ``dataset``, the oldest first."""
    if dataset.people is None:
        return versions_of(session, dataset)
    return list(
        session.exec(
            select(Dataset)
            .where(col(Dataset.people) == dataset.people, col(Dataset.withdrawn_at).is_(None))
            .order_by(col(Dataset.id))
        ).all()
    )


def by_people(session: Session) -> list[list[Dataset]]:
    """Return the versions of all datasets, grouped by the people that they hold.

    Groups are in the order in which their first versions were registered.
    """
    groups: dict[int | str, list[Dataset]] = {}
    not_withdrawn = select(Dataset).where(col(Dataset.withdrawn_at).is_(None))
    for version in session.exec(not_withdrawn.order_by(col(Dataset.id))).all():
        key = version.folded if version.people is None else version.people
        groups.setdefault(key, []).append(version)
    return list(groups.values())


def split(versions: Sequence[Dataset]) -> list[list[Dataset]]:
    """Return the versions grouped by dataset."""
    by_name: dict[str, list[Dataset]] = {}
    for version in versions:
        by_name.setdefault(version.folded, []).append(version)
    return list(by_name.values())


def chains(versions: Sequence[Dataset]) -> list[list[Dataset]]:
    """Return the largest sets of versions that one privacy unit may be in, the oldest first.

    A version whose units are in no earlier one begins a new chain; any other may hold units of
    every chain so far, and continues each.  The loss in a dataset is the largest sum over a chain
    (parallel composition, McSherry 2009, which needs add_remove).  If several datasets have the
    same people, a unit may be in any chain of each: the statement about a version concerns only
    earlier versions of its own dataset.
    """
    if not versions:
        return []
    each = [_chains_of_dataset(of_dataset) for of_dataset in split(versions)]
    return [[version for part in parts for version in part] for parts in product(*each)]


def _chains_of_dataset(versions: Sequence[Dataset]) -> list[list[Dataset]]:
    chains_so_far: list[list[Dataset]] = []
    for version in versions:
        if version.disjoint_units or not chains_so_far:
            chains_so_far.append([version])
        else:
            for chain in chains_so_far:
                chain.append(version)
    return chains_so_far
