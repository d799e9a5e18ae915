"""Write the leaves of datasets, and compare their tables with them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from penstock.persistence.tables.datasets import Dataset, FormerDeclaration
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.datasets.declarations import charged, digest, number_of
from penstock.transparency_log.logged_subject import LeafFields
from penstock.transparency_log.sights import Sight

Key = tuple[str, int]
"""A dataset's name, and the number of a version of it."""


def record_registration(session: Session, principal: Principal, dataset: Dataset) -> None:
    """Append the leaf of a dataset, or of a version of one, that was registered."""
    record(
        session,
        principal,
        "dataset",
        dataset.created_at,
        dataset=dataset,
        version=dataset.version,
        disjoint_units=True if dataset.disjoint_units else None,
        delta=dataset.delta,
        neighboring=dataset.neighboring,
    )


def record_correction(
    session: Session, principal: Principal, dataset: Dataset, changed: Sequence[str], at: datetime
) -> None:
    """Append the leaf of a corrected declaration; ``changed`` are the names of its fields."""
    record(
        session,
        principal,
        "dataset",
        at,
        dataset=dataset,
        version=dataset.version,
        disjoint_units=True if dataset.disjoint_units else None,
        delta=dataset.delta,
        neighboring=dataset.neighboring,
        declaration=dataset.declaration,
        declaration_sha256=digest(dataset.spec),
        changed=changed,
    )


def record_withdrawal(
    session: Session, principal: Principal, dataset: Dataset, at: datetime
) -> None:
    """Append the leaf of a version of a dataset that was withdrawn."""
    record(
        session,
        principal,
        "dataset",
        at,
        dataset=dataset,
        version=dataset.version,
        withdrawn=True,
    )


def record_same_people(
    session: Session, principal: Principal, dataset: Dataset, other: Dataset, at: datetime
) -> None:
    """Append the leaf of two datasets that were declared to hold the same people."""
    record(
        session,
        principal,
        "dataset",
        at,
        dataset=dataset,
        version=dataset.version,
        same_people_as=other.name,
    )


class LoggedDatasets:
    """Hold the datasets that the log has: declarations, withdrawals, and groups of same people."""

    def __init__(self) -> None:
        self._datasets: dict[Key, object] = {}
        self._withdrawn: set[Key] = set()
        self._digests: dict[Key, list[str | None]] = defaultdict(list)
        self._groups: dict[str, frozenset[str]] = {}

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a dataset."""
        if leaf["kind"] != "dataset":
            return
        key = leaf["dataset"], leaf["version"]
        if leaf.get("withdrawn"):
            self._withdrawn.add(key)
            self._leave(key[0])
        elif other := leaf.get("same_people_as"):
            joined = self._groups.get(key[0], frozenset(key[:1]))
            joined |= self._groups.get(other, frozenset((other,)))
            self._groups.update(dict.fromkeys(joined, joined))
        else:
            disjoint = leaf.get("disjoint_units", False)
            self._datasets[key] = leaf["delta"], leaf["neighboring"], disjoint
            self._digests[key].append(leaf.get("declaration_sha256"))

    def _leave(self, name: str) -> None:
        """Take a dataset of which no version is left out of its group."""
        if {key for key in self._datasets if key[0] == name} <= self._withdrawn:
            rest = self._groups.pop(name, frozenset()) - {name}
            self._groups.update(dict.fromkeys(rest, rest))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where datasets, groups of same people or declarations differ."""
        datasets = session.exec(select(Dataset)).all()
        stored: dict[Key, object] = {
            (row.name, row.version): (row.delta, row.neighboring, row.disjoint_units)
            for row in datasets
        }
        withdrawn = {(row.name, row.version) for row in datasets if row.withdrawn_at is not None}
        if stored != self._datasets or withdrawn != self._withdrawn:
            yield "the datasets are not those of the log"
        yield from self._group_differences([row for row in datasets if row.withdrawn_at is None])
        yield from self._declaration_differences(session, datasets)

    def _group_differences(self, datasets: Sequence[Dataset]) -> Iterator[str]:
        names: dict[int, set[str]] = defaultdict(set)
        for dataset in datasets:
            if dataset.people is not None:
                names[dataset.people].add(dataset.name)
        shared = {name: group for group in names.values() for name in group if len(group) > 1}
        alone = {dataset.name for dataset in datasets if dataset.people is None}
        logged = {name: group for name, group in self._groups.items() if len(group) > 1}
        if shared != logged or alone & shared.keys():
            yield "the datasets declared to hold the same people are not those of the log"

    def _declaration_differences(
        self, session: Session, datasets: Sequence[Dataset]
    ) -> Iterator[str]:
        former: dict[int, list[str]] = defaultdict(list)
        statement = select(FormerDeclaration).order_by(col(FormerDeclaration.number))
        for row in session.exec(statement).all():
            former[row.dataset_id].append(row.spec)
        for dataset in datasets:
            named = f"dataset {dataset.name!r}, version {dataset.version},"
            # The leaf of the first has no hash of it.
            digests = [digest(spec) for spec in (*former[dataset.id or 0], dataset.spec)]
            logged = self._digests[dataset.name, dataset.version]
            if [None, *digests[1:]] != logged or number_of(dataset) != len(digests):
                yield f"the declaration of {named} is not that of the log"
            if dataset.withdrawn_at is not None and charged(session, dataset):
                yield f"{named} is withdrawn and was charged"
