"""Test that a row that was altered outside of the server is refused wherever it is read."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import Connection, Table, text, update
from tests.unit.services.verification.tampered import (
    TABLES,
    filled,
    read_all,
    rows_of,
    tokens_of,
    unguarded,
)
from tests.unit.worlds import CopyWorld, World

from penstock.errors import IntegrityViolation
from penstock.persistence import row_authentication
from penstock.persistence.statements.glances import Glance
from penstock.persistence.tables import QueryLevel, Release, metadata
from penstock.persistence.tables.columns import Moment, Numbered
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.verification import altered_rows
from penstock.services.verification.verification import verify

OTHERWISE = {
    "checkpoint": "signed",
    "cosignature": "signed by its cosigner",
    "delivery": "read for the webhook alone, which has no values and decides nothing",
    "edition": "replaced with every change; an old one is worth what a deleted row is",
    "histogram_state": "encrypted with its place",
    "leaf": "in the tree",
    "log_key": "encrypted with its place",
    "log_reader": "read for the webhook alone, which has no values and decides nothing",
    "secret_check": "an HMAC itself",
    "stream_output": "encrypted with its place",
    "stream_state": "encrypted with its place",
    "tree_node": "recomputed from the leaves",
    "used_once": "its presence refuses; a row that is gone is what no HMAC would show",
}
"""What holds the rows of the other tables."""

pytestmark = pytest.mark.each_database

NUMBERED = [str(kind.__tablename__) for kind in Numbered.__subclasses__()]


@pytest.fixture
def full(copy_world: CopyWorld) -> World:
    return copy_world("tampered", filled)


@pytest.fixture
def owner(full: World) -> Iterator[Connection]:
    """Yield a connection of whoever owns the database, with triggers off."""
    with unguarded(full) as connection:
        connection.commit()
        yield connection


def others(value: Any, column: Any) -> list[object]:
    """Return other values of the same type, and null."""
    match value:
        case None:
            if isinstance(column.type, Moment):
                return [datetime(2026, 1, 1, tzinfo=UTC)]
            return [{int: 1, bytes: b"0"}.get(column.type.python_type, "0")]
        case bool():
            return [not value]
        case int():
            changed: object = value + 1000
        case float():
            changed = value * 1.5
        case str():
            changed = value + "0"
        case bytes():
            changed = bytes([value[0] ^ 1]) + value[1:]
        case datetime():
            changed = value + timedelta(microseconds=1)
        case _:
            raise TypeError(f"no other value is known for {value!r}")
    return [changed, None] if column.nullable else [changed]


def put(owner: Connection, table: Table, key: int, column: str, value: object) -> None:
    owner.execute(update(table).where(table.c.id == key).values({column: value}))
    owner.commit()


def trade(owner: Connection, name: str, first: int, last: int) -> None:
    """Let two rows of a table have each other's number."""
    for before, after in ((first, -1), (last, first), (-1, last)):
        statement = f'UPDATE "{name}" SET id = {after} WHERE id = {before}'  # noqa: S608 - ours
        owner.execute(text(statement))
    owner.commit()


def refused(world: World, table: str) -> bool:
    """Return whether a table's rows are refused, and an audit finds them there and only there."""
    with world.server.database.read() as session:
        found = {name for name, _ in altered_rows.altered(session)}
    if not found:
        read_all(world, table)
        return False
    with pytest.raises(IntegrityViolation, match="was altered outside of this server"):
        read_all(world, table)
    return found == {table}


def test_every_table_and_column_is_authenticated_or_held_otherwise() -> None:
    assert {*TABLES, *OTHERWISE} == set(metadata.tables)
    assert not {*TABLES} & set(OTHERWISE)
    for name in TABLES:
        left = set(metadata.tables[name].columns.keys()) - set(row_authentication.columns(name))
        expected = {"mac"} | ({"ciphertext"} if name == "release" else set())
        assert left == (expected if name in NUMBERED else expected | {"id"})


@pytest.mark.only("sqlite")
def test_tables_are_authenticated_that_are_imported_later() -> None:
    script = (
        "import sys\n"
        "from penstock.persistence import row_authentication, tables\n"
        "assert 'penstock.persistence.tables.jobs' not in sys.modules\n"
        "print(*row_authentication.signed_tables())\n"
        "for name in sorted(tables.__all__):\n"
        "    kind = getattr(tables, name)\n"
        "    if name != 'metadata' and len(list(kind.__mapper__.class_manager.dispatch.load)):\n"
        "        print(kind.__tablename__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    listed, *checked = done.stdout.splitlines()
    assert listed.split() == sorted(TABLES) == sorted(checked)


def test_whatever_other_rows_name_by_number_is_bound_to_its_number() -> None:
    referred = {
        key.column.table.name for table in metadata.tables.values() for key in table.foreign_keys
    }
    assert referred - set(OTHERWISE) == set(NUMBERED)


def test_rows_of_every_table_are_read_as_they_were_written(full: World) -> None:
    assert all(read_all(full, table) >= 2 for table in TABLES)
    assert verify(full.server, OPERATOR).size > 0


@pytest.mark.slow
@pytest.mark.only("sqlite")
def test_a_row_with_any_column_altered_is_refused(full: World, owner: Connection) -> None:
    for name in TABLES:
        table = metadata.tables[name]
        row = rows_of(full, name)[-1]
        for column in (*row_authentication.columns(name), "mac"):
            if column == "id":
                continue
            for value in others(row[column], table.c[column]):
                put(owner, table, row["id"], column, value)
                assert refused(full, name), (name, column)
            put(owner, table, row["id"], column, row[column])
        assert not refused(full, name), name


def test_a_row_under_the_hmac_of_another_or_under_none_is_refused(
    full: World, owner: Connection
) -> None:
    for name in TABLES:
        table = metadata.tables[name]
        first, *_, last = rows_of(full, name)
        for value in (first["mac"], None, b"", b"\0" * 32):
            put(owner, table, last["id"], "mac", value)
            assert refused(full, name), name
        put(owner, table, last["id"], "mac", last["mac"])
        assert not refused(full, name), name


def test_a_row_that_was_read_before_is_refused_once_it_is_altered(full: World) -> None:
    keys = row_authentication.RowKeys(lambda: full.server.secrets.of_rows())

    def read(name: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
        info: dict[Any, Any] = {row_authentication.KEYS: keys}
        row_authentication.accept_for_single_row(info)
        values = [row[column] for column in ("mac", *row_authentication.columns(name))]
        return row_authentication.authentic_row(Glance(info, None), name, values)

    for name in TABLES:
        row = rows_of(full, name)[-1]
        assert read(name, row) == read(name, row) is not None
        for column in ("mac", *row_authentication.columns(name)):
            for value in others(row[column], metadata.tables[name].c[column]):
                with pytest.raises(IntegrityViolation):
                    read(name, {**row, column: value})
        assert read(name, row) is not None


def test_a_user_that_was_altered_between_two_requests_is_refused(
    full: World, owner: Connection
) -> None:
    token = tokens_of(full)["ines"]
    for _ in range(2):
        assert authenticate(full.server, token).name == "ines"
    table = metadata.tables["user"]
    (row,) = (row for row in rows_of(full, "user") if row["name"] == "ines")
    put(owner, table, row["id"], "admin", not row["admin"])
    with pytest.raises(IntegrityViolation, match="was altered outside of this server"):
        authenticate(full.server, token)
    put(owner, table, row["id"], "admin", row["admin"])
    assert authenticate(full.server, token).name == "ines"


def test_a_row_under_a_key_that_was_dropped_is_refused_though_it_was_read_before() -> None:
    values = [1] * len(row_authentication.columns("query_level"))
    values[row_authentication.columns("query_level").index("by")] = "ada"  # type: ignore[call-overload]
    values[row_authentication.columns("query_level").index("at")] = None  # type: ignore[call-overload]
    secrets: list[tuple[bytes, ...]] = [(b"old" * 10,)]
    keys = row_authentication.RowKeys(lambda: secrets[-1])
    row = [row_authentication.mac(keys.now()[0], "query_level", values), *values]

    def read() -> object:
        info: dict[Any, Any] = {row_authentication.KEYS: keys}
        row_authentication.accept_for_single_row(info)
        return row_authentication.authentic_row(Glance(info, None), "query_level", row)

    assert read() == read() is not None
    secrets.append((b"new" * 10, b"old" * 10))
    assert read() == read() is not None
    secrets.append((b"new" * 10,))
    with pytest.raises(IntegrityViolation):
        read()


@pytest.mark.only("sqlite")
def test_rows_that_trade_their_numbers_are_refused(full: World, owner: Connection) -> None:
    for name in NUMBERED:
        first, *_, last = (row["id"] for row in rows_of(full, name))
        trade(owner, name, first, last)
        assert refused(full, name), name
        trade(owner, name, first, last)
        assert not refused(full, name), name


@pytest.mark.only("sqlite")
def test_without_the_number_rows_could_trade_them(
    full: World, owner: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, bound = metadata.tables["user"], row_authentication.columns
    beside = tuple(name for name in bound("user") if name != "id")
    known = (row_authentication._values, row_authentication.writers)
    for module in (row_authentication, altered_rows):
        monkeypatch.setattr(
            module, "columns", lambda name: beside if name == "user" else bound(name)
        )
    for one in known:
        one.cache_clear()
    key = row_authentication.derived(full.server.secrets.values)
    rows = rows_of(full, "user")
    for row in rows:
        found = row_authentication.mac(key, "user", [row[name] for name in beside])
        put(owner, table, row["id"], "mac", found)
    trade(owner, "user", rows[0]["id"], rows[-1]["id"])
    found_out = refused(full, "user")
    for one in known:
        one.cache_clear()
    assert not found_out


def test_a_value_is_written_alike_however_it_is_held() -> None:
    key, table = b"k" * 32, "tier_budget"
    names = row_authentication.columns(table)

    def of(**values: object) -> bytes:
        known = dict.fromkeys(names, 1) | {"by": "ada", "at": datetime(2026, 1, 1, tzinfo=UTC)}
        return row_authentication.mac(key, table, [{**known, **values}[name] for name in names])

    east = datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert of() == of(epsilon=1.0) == of(at=east)
    assert of(delta=0.0) == of(delta=-0.0)
    assert of(epsilon=0.1) != of(epsilon=0.1 + 2**-56)
    for value in ("1", b"1", datetime(2026, 1, 1, tzinfo=UTC)):
        with pytest.raises(TypeError):
            of(version=value)


def test_rows_that_are_stored_together_are_signed(full: World) -> None:
    before = rows_of(full, "query_level")
    last = {name: before[-1][name] for name in row_authentication.columns("query_level")}
    rows = [{**last, "version": last["version"] + more} for more in (1, 2)]
    with full.server.database.write() as session:
        row_authentication.store_signed(session, QueryLevel, rows)
    assert [row["version"] for row in rows_of(full, "query_level")[len(before) :]] == [
        row["version"] for row in rows
    ]
    assert not refused(full, "query_level")


def test_a_row_is_stored_with_all_that_is_signed_or_not_at_all(full: World) -> None:
    row = {name: rows_of(full, "query_level")[-1][name] for name in ("query_id", "tier_id", "by")}
    with pytest.raises(KeyError), full.server.database.write() as session:
        row_authentication.store_signed(session, QueryLevel, [row])
    with pytest.raises(TypeError, match="with their numbers"), full.server.database.write() as s:
        row_authentication.store_signed(s, Release, [{"rung": 1}])


def test_the_same_columns_in_another_table_have_another_hmac() -> None:
    key, at = b"k" * 32, datetime(2026, 1, 1, tzinfo=UTC)
    shared = {"id": 1, "folded": "a", "name": "a", "created_at": at}
    found = {
        table: row_authentication.mac(
            key, table, [shared.get(column) for column in row_authentication.columns(table)]
        )
        for table in ("tier", "user", "dataset", "query")
    }
    assert len(set(found.values())) == 4
