"""Hold the tables of a small server to its log, as it is or with leaves left out."""

import json
from collections.abc import Callable
from typing import Any

from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.persistence.tables import Checkpoint, Leaf
from penstock.transparency_log.logged_subject import LoggedSubject
from penstock.transparency_log.sights import Sight

Subject = Callable[[], LoggedSubject]


def leaves(world: World) -> list[dict[str, Any]]:
    """Return the fields of all leaves, in the log's order."""
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf.bytes).order_by(col(Leaf.index))).all()
    return [json.loads(content) for content in rows]


def differences(world: World, make: Subject, logged: list[dict[str, Any]]) -> list[str]:
    """Return the messages of a subject that took in the leaves ``logged``."""
    subject = make()
    for leaf in logged:
        subject.take(leaf)
    seen = world.server.sequencer.witness.seen()
    with world.server.database.read() as session:
        return list(subject.differences(session, seen))


def unmissed(world: World, make: Subject) -> list[dict[str, Any]]:
    """Return the leaves that can be left out without a message, though the whole log has none."""
    logged = leaves(world)
    assert differences(world, make, logged) == []
    return [
        leaf
        for place, leaf in enumerate(logged)
        if not differences(world, make, logged[:place] + logged[place + 1 :])
    ]


def kinds(logged: list[dict[str, Any]]) -> set[str]:
    """Return the kinds of leaves."""
    return {leaf["kind"] for leaf in logged}


def first_checkpoint(world: World) -> Sight:
    """Return what a witness would have kept of the log's first checkpoint."""
    with world.server.database.read() as session:
        row = session.exec(select(Checkpoint).order_by(col(Checkpoint.size))).first()
    assert row is not None
    return Sight(row.size, row.root)
