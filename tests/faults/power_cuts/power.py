"""Test power cuts: what was answered is there when the power is back, and is what it was."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Engine, RowMapping, event
from sqlmodel import select
from tests.faults.reports import Report, Reported
from tests.faults.rules import broken_rules
from tests.faults.snapshot import snapshot
from tests.faults.stage import (
    MECHANISMS,
    TIERS,
    analyst,
    answer,
    asks,
    choices,
    open_home,
    opened,
    some_rungs,
    vector_query,
)

from penstock.errors import LogUnavailable
from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.queries.registration import register
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.verification.verification import verify
from penstock.transparency_log.witness import slots
from penstock.transparency_log.witness.slots import Content

if TYPE_CHECKING:
    from _typeshed import HasFileno

SESSIONS = (4, 4, 90, 4)
"""How much is asked for each time that the home is opened; SQLite's own checkpoint comes in
the long one."""
SHORT = (4, 4, 4, 4)
"""Sessions for a variant that forgets every commit: there is something to lose at once."""
FULL, NORMAL, UNSYNCED, ONE_SLOT = "full", "normal", "unsynced", "one slot"
"""The product as it is, and three broken variants: a database that syncs less, and a witness that
does not sync, or that has one slot."""
MORE_ACCOUNTS = 6
"""Datasets beside the first, so that the witness's record has more than one sector."""
ASKED_AGAIN = 12
"""How many of the answers are asked for again after every cut, the newest and some others."""


@dataclass(frozen=True)
class Told:
    """Hold what was answered before a cut: releases, and the names of new queries."""

    answers: Sequence[Reported]
    queries: Sequence[str]


def run(home: Path, answers: Path, queries: Path, key: int, sessions: Sequence[int]) -> None:
    """Open the home, register and ask, close it; and again."""
    report = Report(answers)
    known = os.open(queries, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for session, length in enumerate(sessions):
        server = open_home(home)
        name = f"session-{session}"
        register(server, OPERATOR, vector_query(name, MECHANISMS[session % len(MECHANISMS)]))
        os.write(known, json.dumps(name).encode() + b"\n")
        for number, rung in enumerate(some_rungs(length, "power", key, session)):
            (ask,) = asks(server, name if number % 2 else "query-0", [rung])
            reader = analyst(number % 2)
            report.add(reader, ask, answer(server, reader, ask))
        server.database.close()


def complaints(home: Path, told: Told, *label: object) -> list[str]:
    """Return what is wrong with a home that a power cut left."""
    with opened(home) as server:
        now = snapshot(server)
        stored = {row["public_id"] for row in now["release"]}
        found = [
            f"release {one.release} is lost" for one in told.answers if one.release not in stored
        ]
        found += _unwitnessed(server, told, {row["hash"].hex(): row for row in now["leaf"]})
        if server.sequencer.suspended:
            return [*found, server.sequencer.suspended]
        with server.database.read() as session:
            active = session.exec(select(Query.name).where(Query.status == "active")).all()
        found += [f"query {name} is lost" for name in told.queries if name not in active]
        return found or [*_answered_otherwise(server, told, *label), *_unsound(server, *label)]


def _unwitnessed(server: Server, told: Told, leaves: Mapping[str, RowMapping]) -> Iterator[str]:
    try:
        seen = server.sequencer.witness.seen()
    except LogUnavailable as problem:
        yield problem.detail
        return
    for one in told.answers:
        index = leaves[one.leaf_hash]["index"] if one.leaf_hash in leaves else None
        if index is None or index >= seen.size:
            yield f"release {one.release} is not witnessed"


def _answered_otherwise(server: Server, told: Told, *label: object) -> list[str]:
    places = choices("again", *label).permutation(len(told.answers))[: ASKED_AGAIN // 2]
    again = [*(told.answers[place] for place in places), *told.answers[-ASKED_AGAIN // 2 :]]
    found = []
    for one in again:
        now = answer(server, one.analyst, one.ask)
        same = (now.view.id, now.view.receipt.leaf_hash) == (one.release, one.leaf_hash)
        if now.first or not same or not np.array_equal(now.view.values, one.values):
            found.append(f"release {one.release} is answered otherwise")
    return found


def _unsound(server: Server, *label: object) -> list[str]:
    """Return what is wrong with what is stored, before and after it goes on."""
    before = verify(server, OPERATOR).problems
    (ask,) = asks(server, "query-0", some_rungs(1, "after", *label))
    assert answer(server, analyst(0), ask).view.values.size
    return [*before, *verify(server, OPERATOR).problems, *broken_rules(server)]


def forget_quickly(connection: Any, _: object) -> None:
    """Set what SQLite's documentation calls safe in WAL mode, which is so only for the file."""
    connection.execute("PRAGMA synchronous = NORMAL")


def furnish_more(home: Path) -> None:
    """Add accounts to a home."""
    with opened(home) as server:
        for number in range(MORE_ACCOUNTS):
            name = f"more-{number}"
            budgets = {tier: {"epsilon": 20.0} for tier in TIERS}
            dataset = {"source": {"engine": "vector"}, "neighboring": "add_remove", "delta": 1e-6}
            request = {"name": name, "budgets": budgets, **dataset}
            datasets.register(server, OPERATOR, DatasetRequest.model_validate(request))
            registration.register(server, OPERATOR, vector_query(name, MECHANISMS[0], dataset=name))


def _do_nothing(fd: "int | HasFileno") -> None:
    """Return at once, where the product waits for the disk."""


def break_by(mode: str) -> None:
    """Break the product as the mode says."""
    if mode == NORMAL:
        event.listen(Engine, "connect", forget_quickly)
    if mode == UNSYNCED:
        os.fdatasync = _do_nothing
    if mode == ONE_SLOT:
        read = slots.read

        def swapped(
            content: bytes, keys: Sequence[bytes], known: slots.KnownRecords | None = None
        ) -> Content:
            newest = read(content, keys, known)
            return replace(newest, number=1 - newest.number)

        slots.read = swapped


if __name__ == "__main__":
    folder, *files, number, mode = sys.argv[1:]
    break_by(mode)
    paths = Path(folder), Path(files[0]), Path(files[1])
    run(*paths, int(number), SESSIONS if mode == FULL else SHORT)
