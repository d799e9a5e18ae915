"""Test that the state of the rows which is named is the one that was read."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.databases.cluster import HANG, Cluster
from tests.databases.replication import Pair, launch
from tests.databases.warehouse import SCHEMA, Warehouse
from tests.unit.connectors.cases import KEY, SALT, query_of, stated
from tests.unit.connectors.postgresql.conftest import ROWS, TYPES

from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.postgresql import states
from penstock.connectors.postgresql.session import Session
from penstock.connectors.specs.models import DatasetSpec

UNITS = query_of({"type": "count_units"})
WRITE = "INSERT INTO data.visits VALUES ('cid', 'c')"
NAME = re.compile(
    r"PostgreSQL system (?P<system>\d+), timeline (?P<timeline>\d+), snapshot (?P<snapshot>[\d:,]+)"
)


def asked(warehouse: Warehouse, dataset: DatasetSpec) -> ExactAnswer:
    """Return the number of people, of whom there are two before ``WRITE``."""
    return answer(
        dataset,
        stated(dataset, UNITS),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, warehouse.sources),
        sources=warehouse.sources,
    )


def part(read: ExactAnswer, name: str) -> str:
    found = NAME.fullmatch(read.state or "")
    assert found is not None, read.state
    return found[name]


def saw(warehouse: Warehouse, read: ExactAnswer, transaction: str) -> bool:
    """Return whether the server says that a transaction is visible in the state that is named."""
    with warehouse.cluster.administered() as connection:
        row = connection.execute(
            "SELECT pg_visible_in_snapshot(%s::xid8, %s::pg_snapshot)",
            [transaction, part(read, "snapshot")],
        ).fetchone()
    return bool((row or (None,))[0])


@contextmanager
def writing(warehouse: Warehouse) -> Iterator[str]:
    """Write a row in a transaction that is committed at the end, and yield its number."""
    administered = warehouse.cluster.administered(warehouse.database)
    with administered as connection, connection.transaction():
        connection.execute(WRITE)
        row = connection.execute("SELECT pg_current_xact_id()::text").fetchone()
        yield str((row or ("",))[0])


@contextmanager
def still(cluster: Cluster) -> Iterator[None]:
    """Let no process of the server itself write meanwhile."""
    with cluster.set("autovacuum", "off"), cluster.administered() as connection:
        working = "SELECT 1 FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'"
        until = time.monotonic() + HANG
        while connection.execute(working).fetchone():
            assert time.monotonic() < until, "autovacuum goes on"
            time.sleep(0.01)
        yield


def test_a_transaction_in_progress_is_named_and_not_read(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    with writing(warehouse) as transaction:
        # One that begins later and is over: only then is the other one listed.
        warehouse.run("SELECT pg_current_xact_id()")
        before = asked(warehouse, visits)
    after = asked(warehouse, visits)
    assert transaction in part(before, "snapshot").split(":")[2].split(",")
    assert not saw(warehouse, before, transaction)
    assert saw(warehouse, after, transaction)
    assert [*before.steps, *after.steps] == [2, 3]


def test_states_are_the_same_until_somebody_writes(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    with still(warehouse.cluster):
        first, again = asked(warehouse, visits), asked(warehouse, visits)
        warehouse.run(WRITE)
        later = asked(warehouse, visits)
    assert first == again
    assert first.state != later.state


def test_the_name_has_the_servers_identity(warehouse: Warehouse, visits: DatasetSpec) -> None:
    read = asked(warehouse, visits)
    with warehouse.cluster.administered() as connection:
        system = connection.execute("SELECT system_identifier FROM pg_control_system()").fetchone()
    assert (int(part(read, "system")),) == system
    assert part(read, "timeline") == "1"


def test_a_view_without_rows_has_a_state(warehouse: Warehouse, visits: DatasetSpec) -> None:
    warehouse.run("TRUNCATE data.visits")
    read = asked(warehouse, visits)
    assert list(read.steps) == [0]
    assert part(read, "snapshot")


Read = Callable[..., tuple[pa.Table, str | None]]


def before_it(session: Session, *given: Any) -> tuple[pa.Table, str]:
    """Read as ``states.read``, with the snapshot of a statement before the one that reads."""
    snapshot = snapshot_now(session)
    return session.table(*given[2:]), named(snapshot)


def after_it(session: Session, *given: Any) -> tuple[pa.Table, str]:
    """Read as ``states.read``, with the snapshot of a statement after the one that reads."""
    rows = session.table(*given[2:])
    return rows, named(snapshot_now(session))


def snapshot_now(session: Session) -> str:
    (row,) = session.table("SELECT CAST(pg_current_snapshot() AS TEXT) AS now").to_pylist()
    return str(row["now"])


def named(snapshot: str) -> str:
    return f"PostgreSQL system 1, timeline 1, snapshot {snapshot}"


def misnamed(
    warehouse: Warehouse, visits: DatasetSpec, read: Read, monkeypatch: pytest.MonkeyPatch
) -> list[bool]:
    """Read with ``read`` while somebody writes, right before and right after the rows are read.

    Return for both whether the name says otherwise than the answer which rows were read.
    """
    found = []
    run = Session.table
    for first in (True, False):
        warehouse.fill("visits", TYPES, ROWS)
        written: list[str] = []

        def table(
            session: Session,
            text: str,
            parameters: Sequence[str] = (),
            first: bool = first,
            written: list[str] = written,
        ) -> pa.Table:
            reads = '"data"."visits"' in text
            if reads and first:
                written.append(write(warehouse))
            rows = run(session, text, parameters)
            if reads and not first:
                written.append(write(warehouse))
            return rows

        with monkeypatch.context() as patch:
            patch.setattr(states, "read", read)
            patch.setattr(Session, "table", table)
            got = asked(warehouse, visits)
        (transaction,) = written
        assert list(got.steps) == [3 if first else 2]
        found.append(saw(warehouse, got, transaction) != first)
    return found


def write(warehouse: Warehouse) -> str:
    with writing(warehouse) as transaction:
        return transaction


@pytest.mark.parametrize(
    ("read", "wrong"),
    [(states.read, [False, False]), (before_it, [True, False]), (after_it, [False, True])],
    ids=["as built", "named before", "named after"],
)
def test_the_name_is_of_the_statement_that_reads(
    warehouse: Warehouse,
    visits: DatasetSpec,
    read: Read,
    wrong: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same test finds both other ways wrong: a name taken before the rows, or after them."""
    assert misnamed(warehouse, visits, read, monkeypatch) == wrong


def test_a_state_is_named_without_the_servers_identity_where_it_is_not_told(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    functions = ("system", "checkpoint", "recovery")
    try:
        for name in functions:
            warehouse.run(f"REVOKE EXECUTE ON FUNCTION pg_control_{name}() FROM PUBLIC")
        state = asked(warehouse, visits).state
    finally:
        for name in functions:
            warehouse.run(f"GRANT EXECUTE ON FUNCTION pg_control_{name}() TO PUBLIC")
    assert re.fullmatch(r"PostgreSQL snapshot [\d:,]+", state or "")


def test_rows_of_another_server_have_no_state(warehouse: Warehouse, visits: DatasetSpec) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    warehouse.run(
        "CREATE EXTENSION IF NOT EXISTS file_fdw;"
        " CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;"
        f" CREATE FOREIGN TABLE data.elsewhere ({columns}) SERVER files"
        " OPTIONS (filename '/dev/null')"
    )
    warehouse.run(
        "CREATE VIEW data.everywhere AS"
        " SELECT * FROM data.visits UNION ALL SELECT * FROM data.elsewhere"
    )
    source = visits.source.model_copy(update={"table": "data.everywhere"})
    read = asked(warehouse, visits.model_copy(update={"source": source}))
    warehouse.run("DROP SERVER files CASCADE")
    assert list(read.steps) == [2]
    assert read.state is None


@pytest.fixture
def pair(postgresql_programs: Path) -> Iterator[Pair]:
    running = launch(postgresql_programs)
    yield running
    running.remove()


@pytest.mark.slow
def test_a_standby_names_no_state_and_what_becomes_of_it_another_timeline(
    pair: Pair, visits: DatasetSpec
) -> None:
    database = pair.primary.create()
    leading = Warehouse(pair.primary, database)
    with pair.primary.administered(database) as connection:
        connection.execute(f"CREATE SCHEMA {SCHEMA}; GRANT USAGE ON SCHEMA {SCHEMA} TO penstock")
    leading.fill("visits", TYPES, ROWS)
    pair.follow()
    following = Warehouse(pair.standby, database)
    read = asked(following, visits)
    assert list(read.steps) == [2]
    assert read.state is None
    before = asked(leading, visits)
    pair.fail_over()
    after = asked(following, visits)
    assert part(before, "system") == part(after, "system")
    assert [part(one, "timeline") for one in (before, after)] == ["1", "2"]
