"""Define what is wrong with the answers that readers got, and with the releases that are stored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import groupby, product
from operator import attrgetter

import numpy as np
from sqlmodel import col, select
from tests.faults.races import traced
from tests.faults.reports import Reported
from tests.faults.rules import by_query, neighbor_faults
from tests.faults.snapshot import snapshot
from tests.faults.stage import answer

from penstock.mechanisms import IntVector
from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state


@dataclass(frozen=True)
class Findings:
    """Count what is wrong; with a guarded server all counts are 0, whatever happens to it."""

    lost: int = 0
    """Answers whose release is not stored."""
    divergent: int = 0
    """Answers other than the first vector that is stored for their query and rung."""
    stale: int = 0
    """Releases whose recorded neighbors were not the nearest when they were stored."""
    misnumbered: int = 0
    """Releases whose ``seq`` is not their place in the order in which they were stored."""
    untrue: int = 0
    """Traced releases that were not drawn from the neighbors recorded beside them."""

    def __add__(self, other: "Findings") -> "Findings":
        return Findings(
            *(getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        )


NOTHING = Findings()


@dataclass(frozen=True)
class Stored:
    """Hold one release, opened."""

    query: str
    row: Release
    steps: IntVector
    values: tuple[float, ...]


def stored_releases(server: Server) -> dict[str, list[Stored]]:
    """Return all releases but those of streams, by query, in the order of their storing."""
    with server.database.read() as session:
        queries = session.exec(select(Query).where(col(Query.structure).is_(None))).all()
        datasets = {row.id: row for row in session.exec(select(Dataset)).all()}
        rows = session.exec(select(Release).order_by(col(Release.query_id), col(Release.id))).all()
    by_id = {query.id: query for query in queries}
    rows = [row for row in rows if row.query_id in by_id]
    found: dict[str, list[Stored]] = {}
    for key, members in groupby(rows, attrgetter("query_id")):
        query = by_id[key]
        dataset = datasets[query.dataset_id]
        found[query.name] = [_opened(server, dataset, query, row) for row in members]
    return found


def _opened(server: Server, dataset: Dataset, query: Query, row: Release) -> Stored:
    steps = open_state(server, dataset, query, row)
    values = kind_of(query).values(row.rung, steps)
    return Stored(query.name, row, steps, tuple(values.tolist()))


def examine(server: Server, answers: Iterable[Reported], *, is_traced: bool) -> Findings:
    """Compare all answers with what is stored, and what is stored with itself."""
    stored = stored_releases(server)
    found = _answered(stored, answers)
    for rows in by_query(snapshot(server)).values():
        found += Findings(0, 0, *neighbor_faults(rows))
    if is_traced:
        found += Findings(untrue=sum(_untrue(server, releases) for releases in stored.values()))
    return found


def served_otherwise(server: Server, answers: Sequence[Reported]) -> int:
    """Return how many readers are now told something else than they were, or for the first time."""
    count = 0
    for told in answers:
        now = answer(server, told.analyst, told.ask)
        same = (now.view.id, now.view.receipt.leaf_hash) == (told.release, told.leaf_hash)
        count += now.first or not same or not np.array_equal(now.view.values, told.values)
    return count


def _answered(stored: dict[str, list[Stored]], answers: Iterable[Reported]) -> Findings:
    first: dict[tuple[str, int], Stored] = {}
    names: set[str] = set()
    for releases in stored.values():
        for release in releases:
            first.setdefault((release.query, release.row.rung), release)
            names.add(release.row.public_id)
    lost = divergent = 0
    for told in answers:
        true = first.get((told.ask.query, told.ask.rung))
        if told.release not in names:
            lost += 1
        elif true is None or (told.release, told.values) != (true.row.public_id, true.values):
            divergent += 1
    return Findings(lost=lost, divergent=divergent)


def _untrue(server: Server, releases: Sequence[Stored]) -> int:
    """Return how many of one query's releases deny the neighbors that are recorded beside them."""
    with server.database.read() as session:
        query = session.get_one(Query, releases[0].row.query_id)
    ladder = kind_of(query).ladder
    at: dict[int | None, list[IntVector | None]] = {None: [None]}
    for release in releases:
        at.setdefault(release.row.rung, []).append(release.steps)

    def placed(rung: int | None, steps: IntVector | None) -> traced.Placed | None:
        return None if rung is None or steps is None else (ladder.value(rung), steps)

    count = 0
    for release in releases[1:]:
        row = release.row
        # Without UNIQUE(query, rung) there may be several vectors at one rung.
        records = (
            traced.record(
                placed(row.accurate_rung, accurate),
                placed(row.noisy_rung, noisy),
                ladder.value(row.rung),
            )
            for accurate, noisy in product(at[row.accurate_rung], at[row.noisy_rung])
        )
        count += not any(
            np.array_equal(record, release.steps[: traced.RECORD]) for record in records
        )
    return count
