"""Verify everything that is stored of the log against its leaves."""

import hmac
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlmodel import Session, col, select

from penstock.encryption.secrets import VALUES
from penstock.errors import PenstockError
from penstock.mechanisms import MECHANISMS
from penstock.mechanisms.multiple_release import released
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.log import Checkpoint, Leaf, TreeNode
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.long_vector import LongVector
from penstock.services.noise.sealed_state import stored_state
from penstock.services.verification.altered_rows import altered, unchecked
from penstock.services.verification.prices import prices
from penstock.services.verification.reconciliation import differences
from penstock.transparency_log import checkpoints, leaves, merkle
from penstock.transparency_log.merkle.tree import Frontier, Node
from penstock.transparency_log.sights import NOTHING, Sight
from penstock.transparency_log.sinks import forwarding
from penstock.transparency_log.views import VerificationView

FIELDS = ("kind", "actor", "user", "dataset", "query")
"""The fields of a leaf that are also columns, for searching."""

MOST_PROBLEMS = 100


def verify(server: Server, principal: Principal) -> VerificationView:
    """Recompute the tree from the leaves, and compare all that rests on it.

    It checks hashes, the tree's nodes, checkpoints and their signatures, the witness, a second
    place that is a file, rows that were altered, the value of every hand-out, and the result of
    every change (``differences``). It sees one state of the database, and raises only if that
    cannot be read.
    """
    principal.require("auditor")
    # Read before the database: what others write in between would look like a loss.
    seen, problems = _seen(server)
    with server.database.read() as session:
        frontier, nodes, roots = Frontier(), dict[Node, bytes](), {0: merkle.EMPTY}
        problems += _leaves(session, frontier, nodes, roots)
        problems += _nodes(session, nodes)
        rows = session.exec(select(Checkpoint).order_by(col(Checkpoint.size))).all()
        problems += _checkpoints(session, rows, roots, frontier.size)
        problems += _witness(seen, roots)
        problems += forwarding.differing(session, server.sequencer.witness)
        hand_outs = session.exec(select(Grant.id)).all()
        bad = list(altered(session))
        problems += [f"row {number} of the table {name!r} was altered" for name, number in bad]
        # A query's kind decides how everything of it is read.
        if not any(name == "query" for name, _ in bad):
            with unchecked(session):
                problems += _hand_outs(session, server)
                problems += differences(session, seen)
                if not bad:
                    problems += prices(session)
    return VerificationView(
        frontier.size, frontier.root.hex(), len(rows), len(hand_outs), problems[:MOST_PROBLEMS]
    )


def _leaves(
    session: Session, frontier: Frontier, nodes: dict[Node, bytes], roots: dict[int, bytes]
) -> Iterator[str]:
    stored = select(Leaf).where(col(Leaf.index).is_not(None)).order_by(col(Leaf.index))
    for leaf in session.exec(stored):
        place = frontier.size
        if leaf.index != place:
            yield f"leaf {place} is missing, and leaf {leaf.index} stands in its place"
        # SQLite stores a value of any type.
        kept: object = leaf.bytes
        content = kept if isinstance(kept, bytes) else str(kept).encode()
        digest = merkle.leaf_hash(content)
        if digest != leaf.hash:
            yield f"leaf {place} is not what its hash says"
        nodes.update(frontier.add(digest))
        roots[frontier.size] = frontier.root
        if not _is_consistent(leaf):
            yield (
                f"leaf {place} is not canonical, lacks its nonce, or says other than the columns"
                " beside it"
            )


def _is_consistent(leaf: Leaf) -> bool:
    try:
        fields = json.loads(leaf.bytes)
        # A reader of a key that occurs twice may read the other one.
        if leaves.canonical(fields) != leaf.bytes:
            return False
        if not leaves.well_versed(fields):
            return False
        return fields["at"] == leaves.timestamp(leaf.at) and all(
            fields.get(name) == getattr(leaf, name) for name in FIELDS
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _nodes(session: Session, nodes: dict[Node, bytes]) -> Iterator[str]:
    left = dict(nodes)
    for row in session.exec(select(TreeNode)):
        if left.pop((row.level, row.position), None) != row.hash:
            yield f"node {row.position} of level {row.level} is not that of its leaves"
    if left:
        yield f"{len(left)} nodes of the tree are missing"


def _checkpoints(
    session: Session, rows: Sequence[Checkpoint], roots: dict[int, bytes], size: int
) -> Iterator[str]:
    newest = 0
    for row in rows:
        newest = row.size
        if roots.get(row.size) != row.root:
            yield f"the checkpoint of {row.size} leaves has another root than these leaves"
        if not checkpoints.signed(session, row):
            yield f"the checkpoint of {row.size} leaves is not signed as it should be"
    if newest != size:
        yield f"the newest checkpoint is of {newest} leaves, and the log has {size}"


def _seen(server: Server) -> tuple[Sight, list[str]]:
    try:
        return server.sequencer.witness.seen(), []
    except PenstockError as problem:
        return NOTHING, [problem.detail]


def _witness(seen: Sight, roots: dict[int, bytes]) -> Iterator[str]:
    if seen.size and roots.get(seen.size) != seen.root:
        yield f"the witness saw {seen.size} leaves, which are not the first {seen.size} of these"


def _hand_outs(session: Session, server: Server) -> Iterator[str]:
    rows = session.exec(
        select(Grant, Release, Leaf, Query)
        .join(Release, col(Grant.release_id) == col(Release.id))
        .join(Leaf, col(Grant.leaf_id) == col(Leaf.id))
        .join(Query, col(Release.query_id) == col(Query.id))
    )
    paired = set()
    for grant, release, leaf, query in rows:
        paired.add(leaf.id)
        user = session.get_one(User, grant.user_id)
        dataset = session.get_one(Dataset, query.dataset_id)
        fields = json.loads(leaf.bytes)
        handed = (
            fields.get("user"),
            fields.get("query"),
            fields.get("release"),
            fields.get("tier"),
        )
        tier = session.get_one(Tier, grant.tier_id)
        if handed != (user.name, query.name, release.public_id, tier.name):
            yield f"hand-out {grant.id} is of another release or reader than its leaf says"
        elif leaf.kind == "release" and not kind_of(query).is_stream and dataset.wrapped_kek:
            # A shredded value cannot be compared any more, and is never released again.
            yield from _value(server, release, query, dataset, fields)
    for key, index in session.exec(select(Leaf.id, Leaf.index).where(col(Leaf.kind) == "release")):
        if key not in paired:
            yield f"leaf {index} records a release that no hand-out in the table has"


def _value(
    server: Server,
    release: Release,
    query: Query,
    dataset: Dataset,
    fields: dict[str, Any],
) -> Iterator[str]:
    try:
        steps = stored_state(server, dataset, query, release)
        if isinstance(steps, LongVector):
            steps.require_whole()
            if steps.root != fields.get("chunks"):
                yield f"release {release.public_id} is not what the log says was handed out"
            return
    except PenstockError as problem:
        yield f"release {release.public_id}: {problem.detail}"
        return
    stated_hmac = fields.get("value_hmac", "")
    seen = released(kind_of(query).mechanism, steps) if query.mechanism in MECHANISMS else steps
    # A leaf stays under the key that it was written with.
    keys = server.secrets.every(VALUES)
    if not any(
        hmac.compare_digest(leaves.value_hmac(key, release.public_id, seen), stated_hmac)
        for key in keys
    ):
        yield f"release {release.public_id} is not what the log says was handed out"
