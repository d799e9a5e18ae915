"""Write the leaves of events that end a query, and compare the table of queries with them."""

from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, col, func, select

from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query, Release
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log.logged_subject import LeafFields
from penstock.transparency_log.sights import Sight


def record_retirement(
    session: Session, principal: Principal, dataset: Dataset, query: Query, at: datetime
) -> None:
    """Append the leaf of a query that was retired."""
    record(session, principal, "query", at, dataset=dataset, query=query, retired=True)


def record_mismatches(
    session: Session, principal: Principal, dataset: Dataset, query: Query, at: datetime
) -> None:
    """Append the leaf of refused exact values, with their count."""
    record(
        session,
        principal,
        "query",
        at,
        dataset=dataset,
        query=query,
        mismatches=query.mismatches,
    )


def record_shredding(
    session: Session, principal: Principal, dataset: Dataset, at: datetime
) -> None:
    """Append the leaf of a shredded version of a dataset, which retires all of its queries."""
    record(
        session,
        principal,
        "key",
        at,
        dataset=dataset,
        version=dataset.version,
        shredded=True,
    )


class LoggedQueries:
    """Hold the queries that the log has retired, and how often exact values were refused."""

    def __init__(self) -> None:
        self._retired: set[str] = set()
        self._mismatches: dict[str, int] = {}
        self._shredded: set[tuple[str, object]] = set()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a query, or of a dataset that was shredded."""
        match leaf["kind"]:
            case "query" if leaf.get("retired"):
                self._retired.add(leaf["query"])
            case "query" if leaf.get("mismatches"):
                self._mismatches[leaf["query"]] = leaf["mismatches"]
            case "key" if leaf.get("shredded"):
                self._shredded.add((leaf["dataset"], leaf["version"]))

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where retired queries, mismatches or numbers of releases differ."""
        queries = session.exec(select(Query)).all()
        datasets = session.exec(select(Dataset)).all()
        shredded = {row.id for row in datasets if (row.name, row.version) in self._shredded}
        retired = self._retired | {row.name for row in queries if row.dataset_id in shredded}
        if {row.name for row in queries if row.status == "retired"} != retired:
            yield "the retired queries are not those of the log"
        if {row.name: row.mismatches for row in queries if row.mismatches} != self._mismatches:
            yield "the counts of refused exact values are not those of the log"
        counted = select(Release.query_id, func.count()).group_by(col(Release.query_id))
        stored = dict(session.exec(counted).all())
        for query in queries:
            drawn, kept = query.seq + 1, stored.get(query.id or 0, 0)
            if kept != drawn:
                yield f"query {query.name!r} drew {drawn} releases, and {kept} are stored"
