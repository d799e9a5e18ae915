"""Define what holds of a home at every moment, whoever was killed in the middle of what."""

import json
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from sqlalchemy import RowMapping
from sqlmodel import col, select
from tests.faults.snapshot import Snapshot, snapshot

from penstock.persistence.tables import Dataset, Query, Release
from penstock.services.context import Server
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.sealed_state import stored_state
from penstock.transparency_log import leaves


def broken_rules(server: Server, now: Snapshot | None = None) -> list[str]:
    """Return the rules that do not hold now, in words; values stay closed."""
    now = now or snapshot(server)
    return [
        *_file(server),
        *_leaves(now),
        *_grants(now),
        *_releases(now),
        *_numbers(now),
        *_ledger(now),
    ]


def unproven_values(server: Server) -> list[str]:
    """Return the hand-outs whose leaf does not hold the HMAC of what is stored."""
    now = snapshot(server)
    with server.database.read() as session:
        rows = session.exec(
            select(Release, Query, Dataset)
            .join(Query, col(Release.query_id) == col(Query.id))
            .join(Dataset, col(Query.dataset_id) == col(Dataset.id))
            .where(col(Query.structure).is_(None))
        ).all()
    proofs = {
        release.id: _proof(server, dataset, query, release) for release, query, dataset in rows
    }
    recorded = {leaf["id"]: json.loads(leaf["bytes"]) for leaf in now["leaf"]}
    return [
        f"the log holds another value of release {grant['release_id']}"
        for grant in now["grant"]
        if grant["release_id"] in proofs
        and not proofs[grant["release_id"]].items() <= recorded[grant["leaf_id"]].items()
    ]


def _proof(server: Server, dataset: Dataset, query: Query, release: Release) -> dict[str, str]:
    """Return the field of a leaf that commits to a stored release."""
    steps = stored_state(server, dataset, query, release)
    if isinstance(steps, LongVector):
        return {"chunks": steps.root}
    # What is stored beside the values, for mechanisms of several parts, nobody is given.
    seen = steps[: query.dimension]
    return {"value_hmac": leaves.value_hmac(server.secrets.values, release.public_id, seen)}


def neighbor_faults(releases: Sequence[RowMapping]) -> tuple[int, int]:
    """Return how many of one query's releases are stale, and how many are misnumbered.

    ``releases`` come in the order in which they were stored, the anchor first.  One is
    stale if its recorded neighbors were not the nearest then, and misnumbered if its
    ``seq`` is not its place in that order.
    """
    stale = misnumbered = 0
    earlier: list[int] = []
    for place, row in enumerate(releases):
        first, last = bisect_left(earlier, row["rung"]), bisect_right(earlier, row["rung"])
        below = earlier[first - 1] if first > 0 else None
        above = earlier[last] if last < len(earlier) else None
        stale += (row["accurate_rung"], row["noisy_rung"]) != (below, above)
        misnumbered += row["seq"] != place
        insort(earlier, row["rung"])
    return stale, misnumbered


def by_query(now: Snapshot) -> dict[int, list[RowMapping]]:
    """Return the releases of every query but streams, whose rows are levels."""
    fixed = {query["id"] for query in now["query"] if query["structure"] is None}
    found: dict[int, list[RowMapping]] = defaultdict(list)
    for row in now["release"]:
        if row["query_id"] in fixed:
            found[row["query_id"]].append(row)
    return found


def _file(server: Server) -> Iterator[str]:
    if server.settings.database_url:
        return
    with server.database.read() as session:
        connection = session.connection()
        if connection.exec_driver_sql("PRAGMA integrity_check").scalars().all() != ["ok"]:
            yield "the file is damaged"
        if connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall():
            yield "a foreign key points nowhere"


def _leaves(now: Snapshot) -> Iterator[str]:
    # Who was killed before the answer may have left a leaf without a place.
    placed = sorted(leaf["index"] for leaf in now["leaf"] if leaf["index"] is not None)
    if placed != list(range(len(placed))):
        yield "the indexes of the leaves have gaps"
    if any(leaf["hash"] != leaves.leaf_hash(leaf["bytes"]) for leaf in now["leaf"]):
        yield "a leaf's hash is not its own"
    # Of a stream every reading has its leaf, and the first makes its reader a holder.
    handed_out = Counter(leaf["id"] for leaf in now["leaf"] if leaf["kind"] == "release")
    read = {leaf["id"] for leaf in now["leaf"] if leaf["kind"] == "stream"}
    granted = Counter(grant["leaf_id"] for grant in now["grant"] if grant["leaf_id"] not in read)
    if granted != handed_out:
        yield "hand-outs and their leaves do not pair"


def _grants(now: Snapshot) -> Iterator[str]:
    leaves = {leaf["id"]: leaf["bytes"] for leaf in now["leaf"]}
    users = {user["id"]: user["name"] for user in now["user"]}
    queries = {query["id"]: query["name"] for query in now["query"]}
    releases = {row["id"]: row for row in now["release"]}
    for grant in now["grant"]:
        release = releases[grant["release_id"]]
        true = (users[grant["user_id"]], queries[release["query_id"]], release["public_id"])
        leaf = json.loads(leaves[grant["leaf_id"]])
        if (leaf["user"], leaf["query"], leaf["release"]) != true:
            yield f"the leaf of {true[0]}'s release {true[2]} of {true[1]} tells another story"


def _releases(now: Snapshot) -> Iterator[str]:
    granted = {grant["release_id"] for grant in now["grant"]}
    drawn = [release for releases in by_query(now).values() for release in releases]
    for release in drawn:
        if release["seq"] > 0 and release["id"] not in granted:
            yield f"release {release['public_id']} was drawn for nobody"
    for key, releases in by_query(now).items():
        faults = neighbor_faults(releases)
        if any(faults):
            yield f"query {key} has {faults[0]} stale releases and {faults[1]} misnumbered ones"


def _numbers(now: Snapshot) -> Iterator[str]:
    releases = by_query(now)
    for query in now["query"]:
        if query["structure"] is not None:
            continue
        newest = max((row["seq"] for row in releases.get(query["id"], ())), default=-1)
        if query["seq"] != newest:
            yield f"query {query['name']} does not know its newest release"
        if (query["status"] == "pending") != (newest == -1):
            yield f"query {query['name']} is {query['status']} at seq {newest}"


def _ledger(now: Snapshot) -> Iterator[str]:
    totals: dict[tuple[int, int], tuple[int, int, int]] = {}
    charged = Counter((row["query_id"], row["tier_id"], row["rung"]) for row in now["charge"])
    for row in now["charge"]:
        account = (row["dataset_id"], row["tier_id"])
        count, loss, failure = totals.get(account, (0, 0, 0))
        totals[account] = (count + 1, loss + row["loss"], failure + row["failure"])
        if (row["seq"] + 1, row["loss_total"], row["failure_total"]) != totals[account]:
            yield f"charge {row['seq']} of account {account} does not add up"
    levels = Counter((row["query_id"], row["tier_id"], row["rung"]) for row in now["query_level"])
    if charged != levels or set(charged.values()) - {1}:
        yield "queries are not charged once for each tier"
    if {query for query, *_ in charged} != {query["id"] for query in now["query"]}:
        yield "a query was never charged"
    for budget in now["tier_budget"]:
        _, loss, failure = totals.get((budget["dataset_id"], budget["tier_id"]), (0, 0, 0))
        if loss > budget["limit_loss"] or failure > budget["limit_failure"]:
            yield f"the budget of tier {budget['tier_id']} is overdrawn"
