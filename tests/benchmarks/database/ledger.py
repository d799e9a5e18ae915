"""Measure whether registering a query costs more where many are registered already.

Those that are there are made in bulk, as copies of the rows that one registration wrote:
query, levels, charges with their running totals, anchor, leaves.

The goals are for processor time, of all threads of the process, since waiting for the disk is most
of the duration.
"""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from sqlalchemy import insert, select
from sqlmodel import Session
from tests.benchmarks.database.world import World, fresh_world
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import median, ratio, timed

from penstock.persistence import row_authentication
from penstock.persistence.tables.columns import metadata
from penstock.transparency_log import tree_store
from penstock.transparency_log.checkpoints import Signer

GOAL = Goal(1.1, at_most=True)
"""The same, but for a tenth that deeper indexes and caches may take."""

EACH = Goal(5, at_most=True)
"""Milliseconds of processor time of one registration, durable as ever."""

TEMPLATE = "first"
CHUNK = 20_000

Row = dict[str, Any]
Copy = Callable[[Row, int], Row]


@dataclass(frozen=True)
class Setting:
    """Hold how many queries are there before, how large all are, and how often one is added."""

    counts: tuple[int, ...] = (10, 1_000, 100_000)
    values: int = 16
    rounds: int = 60


@dataclass
class Times:
    """Hold seconds of duration, and of processor time."""

    lasted: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return a world for each count; in every round each registers one query more, in turns."""
    taken = {count: Times() for count in setting.counts}
    with contextlib.ExitStack() as stack:
        worlds = {count: stack.enter_context(fresh_world()) for count in setting.counts}
        for count, world in worlds.items():
            fill(world, count, setting.values)
        for number in range(setting.rounds + 1):
            turn = number % len(worlds)
            for count in [*setting.counts[turn:], *setting.counts[:turn]]:
                # The first round fills caches and is not counted.
                times = taken[count] if number else Times()
                _round(worlds[count], f"new-{number}", setting.values, times)
    return _figures(taken)


def fill(world: World, count: int, size: int) -> None:
    """Make ``count`` queries: one by the services, and copies of it."""
    world.add_query(TEMPLATE, size)
    with world.server.database.write() as session:
        written = {name: _written(session, name) for name in COPIES}
        for name, copied in COPIES.items():
            rows = (
                _signed(session, name, copied(row, number))
                for number in range(1, count)
                for row in written[name]
            )
            while some := list(islice(rows, CHUNK)):
                session.connection().execute(insert(metadata.tables[name]), some)
        signer = Signer.load(session, world.server.provider)
        while tree_store.integrate(session, signer, world.server.clock())[1]:
            pass


def _written(session: Session, name: str) -> list[Row]:
    """Return the rows of a table that the one registration wrote."""
    table = metadata.tables[name]
    statement = select(table).order_by(table.c.id)
    if name == "leaf":
        statement = statement.where(table.c.query == TEMPLATE)
    return [dict(row) for row in session.connection().execute(statement).mappings()]


def _signed(session: Session, name: str, row: Row) -> Row:
    """Return the row with an HMAC of its own, where its table has any."""
    if "mac" not in row:
        return row
    values = [row.get(column) for column in row_authentication.columns(name)]
    return {
        **row,
        "mac": row_authentication.mac(session.info[row_authentication.KEYS].now()[0], name, values),
    }


def _query(row: Row, number: int) -> Row:
    name = f"copy-{number}"
    return {**row, "id": row["id"] + number, "name": name, "folded": name}


def _level(row: Row, number: int) -> Row:
    return {**_without_id(row), "query_id": row["query_id"] + number}


def _charge(row: Row, number: int) -> Row:
    """Return a charge of the least loss that the ledger can hold, so that all of them have room."""
    totals = {name: row[name] + number for name in ("loss_total", "failure_total")}
    return {**_level(row, number), "seq": row["seq"] + number, "loss": 1, "failure": 1, **totals}


def _release(row: Row, number: int) -> Row:
    return {**_level(row, number), "id": row["id"] + number, "public_id": f"copy-{number}"}


def _leaf(row: Row, _: int) -> Row:
    return {**_without_id(row), "index": None}


def _without_id(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "id"}


COPIES: dict[str, Copy] = {
    "query": _query,
    "query_level": _level,
    "charge": _charge,
    "release": _release,
    "leaf": _leaf,
}
"""What is copied, a row's parent before it, and how copy ``number`` differs."""


def _round(world: World, name: str, size: int, times: Times) -> None:
    before = time.process_time()
    _, lasted = timed(partial(world.add_query, name, size))
    times.worked.append(time.process_time() - before)
    times.lasted.append(lasted)


def _figures(taken: Mapping[int, Times]) -> list[Figure]:
    fewest, *more = taken
    figures = [
        figure
        for count, times in taken.items()
        for figure in (
            median(f"registration, {count:,} before", times.lasted, "ms", 1e3),
            median(
                f"registration, {count:,} before: processor time", times.worked, "ms", 1e3, EACH
            ),
        )
    ]
    for count in more:
        compared = f"registration, {count:,} before over {fewest:,}"
        many, few = taken[count], taken[fewest]
        figures += [
            ratio(f"{compared}: duration", many.lasted, few.lasted),
            ratio(f"{compared}: processor time", many.worked, few.worked, GOAL),
        ]
    return figures
