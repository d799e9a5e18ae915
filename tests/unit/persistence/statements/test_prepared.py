"""Test that statements which are compiled once do what SQLAlchemy's do."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    bindparam,
    event,
    func,
    insert,
    literal,
    text,
    union_all,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlmodel import col, select

from penstock.errors import DatabaseUnavailable, Interrupted
from penstock.persistence import Database, tables
from penstock.persistence.statements.prepared import TOGETHER, Prepared, numbered, several
from penstock.persistence.tables.columns import metadata

pytestmark = pytest.mark.each_database

_NAMED = Prepared(
    select(col(tables.Tier.id), col(tables.Tier.name)).where(
        col(tables.Tier.id) == bindparam("number")
    )
)
_LEAF, _TIER = metadata.tables["leaf"], metadata.tables["tier"]
_COLUMNS = ("bytes", "hash", "kind", "at", "actor")
_LOG = Prepared(insert(_LEAF).values({name: bindparam(name) for name in _COLUMNS}).inline())
_LOG_NUMBERED = Prepared(
    insert(_LEAF).values({name: bindparam(name) for name in _COLUMNS}).returning(_LEAF.c.id)
)
_LOGGED = Prepared(select(_LEAF.c.bytes, _LEAF.c.at).where(_LEAF.c.actor == bindparam("actor")))
AT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
ROW = {"bytes": b"{}", "hash": b"\x01" * 32, "kind": "tier", "at": AT, "actor": "nobody else"}


def test_it_reads_the_first_row_or_all_by_the_names_of_columns(filled: Database) -> None:
    with filled.read() as session:
        connection = session.connection()
        name = session.get_one(tables.Tier, 1).name
        assert _NAMED.first(connection, {"number": 1}) == {"id": 1, "name": name}
        assert _NAMED.every(connection, {"number": 1}) == [{"id": 1, "name": name}]
        assert _NAMED.first(connection, {"number": 99}) is None
        assert _NAMED.every(connection, {"number": 99}) == []


def test_it_converts_parameters_and_results_as_the_columns_say(filled: Database) -> None:
    with filled.write() as session:
        row = _LOG_NUMBERED.first(session.connection(), ROW)
        stored = _LOGGED.first(session.connection(), {"actor": ROW["actor"]})
        assert stored == {"bytes": b"{}", "at": AT}
        last = session.exec(select(tables.Leaf.id).where(tables.Leaf.actor == ROW["actor"])).one()
        assert row == {"id": last}


@pytest.mark.parametrize("count", [2, TOGETHER, TOGETHER + 1])
def test_it_stores_each_of_several_rows_and_is_heard_of_once(filled: Database, count: int) -> None:
    rows = [
        {**ROW, "actor": f"nobody {number}", "hash": bytes([number] * 32), "bytes": bytes([number])}
        for number in range(count)
    ]
    seen: list[tuple[object, ...]] = []

    def heard(*arguments: object) -> None:
        seen.append(arguments)

    event.listen(Engine, "before_cursor_execute", heard)
    try:
        with filled.write() as session:
            _LOG.change_all(session.connection(), rows)
    finally:
        event.remove(Engine, "before_cursor_execute", heard)
    sent = [(many, len(values)) for _, _, text, values, _, many in seen if "INTO leaf" in str(text)]  # type: ignore[arg-type]  # they have a length
    together = filled._dialect.name == "postgresql" and count <= TOGETHER
    assert sent == [(False, count * len(_COLUMNS)) if together else (True, count)]
    with filled.read() as session:
        for row in rows:
            stored = _LOGGED.every(session.connection(), {"actor": row["actor"]})
            assert stored == [{"bytes": row["bytes"], "at": AT}]
        in_order = session.exec(
            select(tables.Leaf.actor)
            .where(col(tables.Leaf.actor).like("nobody %"))
            .order_by(col(tables.Leaf.id))
        ).all()
        assert list(in_order) == [row["actor"] for row in rows]


def test_none_of_several_rows_is_stored_if_one_is_refused(filled: Database) -> None:
    with pytest.raises(IntegrityError) as raised, filled.write() as session:
        _LOG.change_all(session.connection(), [ROW, {**ROW, "kind": None}])
    assert raised.value.hide_parameters
    with filled.read() as session:
        assert _LOGGED.first(session.connection(), {"actor": ROW["actor"]}) is None


def test_the_parameters_of_every_row_get_numbers_of_their_own() -> None:
    row = "INSERT INTO a (b, c) VALUES ($1::BIGINT, $2)"
    assert several(row, 2) == "INSERT INTO a (b, c) VALUES ($1::BIGINT, $2), ($3::BIGINT, $4)"
    wide = "INSERT INTO a (b) VALUES ($1::NUMERIC(3, 2))"
    assert several(wide, 2) == f"{wide}, ($2::NUMERIC(3, 2))"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO a (b) VALUES ($1) RETURNING b",
        "INSERT INTO a (b) VALUES ($1), ($2)",
        "INSERT INTO a (b) SELECT c FROM (VALUES ($1)) AS d (c)",
        "WITH e AS (INSERT INTO a (b) VALUES ($1)) INSERT INTO f (b) VALUES ($2)",
        "UPDATE a SET b = $1",
    ],
)
def test_no_other_statement_is_repeated_in_one_text(statement: str) -> None:
    assert several(statement, 2) is None


def test_it_returns_what_a_change_returns(filled: Database) -> None:
    renamed = Prepared(
        update(_TIER)
        .where(_TIER.c.id == bindparam("number"))
        .values(description=bindparam("text"))
        .returning(_TIER.c.id.label("changed"), _TIER.c.created_at)
    )
    with filled.write() as session:
        made = session.get_one(tables.Tier, 1).created_at
        row = renamed.first(session.connection(), {"number": 1, "text": "seen by all"})
        assert row == {"changed": 1, "created_at": made}
        assert renamed.first(session.connection(), {"number": 99, "text": ""}) is None


def test_numbers_take_the_place_of_names_and_signs_of_percent_stay() -> None:
    names = "SELECT %(a)s::BIGINT, %(bc)s %% 2, %(a)s"
    assert numbered(names) == ("SELECT $1::BIGINT, $2 % 2, $1", ["a", "bc"])


def test_a_refused_row_is_raised_as_sqlalchemys_error_without_its_values(filled: Database) -> None:
    with pytest.raises(IntegrityError) as raised, filled.write() as session:
        _LOG.change(session.connection(), {**ROW, "kind": None})
    assert raised.value.hide_parameters
    with filled.read() as session:
        assert _LOGGED.first(session.connection(), {"actor": ROW["actor"]}) is None


def test_an_error_in_a_later_row_is_raised_as_sqlalchemys(filled: Database) -> None:
    """SQLite comes to that row only while rows are taken."""
    numbers = [select(literal(number, BigInteger).label("number")) for number in (1, 2, -(2**63))]
    rows = union_all(*numbers).subquery()
    magnitudes = Prepared(select(func.abs(rows.c.number).label("magnitude")))
    with pytest.raises(DBAPIError), filled.read() as session:
        magnitudes.every(session.connection(), {})


def test_a_parameter_that_nobody_gives_is_not_null(filled: Database) -> None:
    with pytest.raises(KeyError, match="number"), filled.read() as session:
        _NAMED.first(session.connection(), {})


def test_whoever_listens_to_statements_hears_of_it(filled: Database) -> None:
    heard: list[str] = []

    def hear(*arguments: Any) -> None:
        heard.append(arguments[2])

    for moment in ("before_cursor_execute", "after_cursor_execute"):
        event.listen(Engine, moment, hear)
    try:
        with filled.read() as session:
            _NAMED.first(session.connection(), {"number": 1})
    finally:
        for moment in ("before_cursor_execute", "after_cursor_execute"):
            event.remove(Engine, moment, hear)
    assert [statement[:14] for statement in heard[-2:]] == ["SELECT tier.id"] * 2


@pytest.mark.only("postgresql")
def test_a_session_keeps_it_parsed_and_beside_others_planned_once(filled: Database) -> None:
    kept = text(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
        " WHERE statement LIKE 'SELECT tier.id, tier.name%'"
    )
    for plans in (1, 2):
        with filled.write_beside() as session:
            _NAMED.first(session.connection(), {"number": 1})
            assert session.connection().execute(kept).all() == [(plans, 0)]
    with filled.read() as session:
        _NAMED.first(session.connection(), {"number": 1})
        assert session.connection().execute(kept).all() == [(2, 1)], "only in that transaction"


def _ended(connection: Connection, database: Database) -> Connection:
    number = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    with database.read() as other:
        end = text("SELECT pg_terminate_backend(:number)")
        other.connection().execute(end, {"number": number})
    return connection


@pytest.mark.only("postgresql")
def test_a_session_that_has_ended_is_told_from_a_refusal(filled: Database) -> None:
    with pytest.raises(Interrupted, match="lost"), filled.write() as session:
        _NAMED.first(_ended(session.connection(), filled), {"number": 1})
    with filled.read() as session:
        assert _NAMED.first(session.connection(), {"number": 1}) is not None


@pytest.mark.only("sqlite")
def test_a_read_only_file_is_refused_with_the_next_step(filled: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="read-only"), filled.read() as session:
        _LOG.change(session.connection(), ROW)
