"""Test the connector of warehouses, on DuckDB in the place of an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
import pytest
from pydantic import SecretStr
from tests.unit.connectors.cases import VISITS, query_of
from tests.unit.connectors.warehouses.on_duckdb import OnDuckDB

from penstock.connectors.connections import Connections
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.progress import silent
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.statements import template
from penstock.connectors.statements.texts import Texts
from penstock.connectors.warehouses.session import Columns, Refused
from penstock.connectors.warehouses.trino import Trino
from penstock.connectors.warehouses.warehouse import Warehouse, reached
from penstock.errors import InvalidInput, SourceChanged, Unavailable

KEY, SALT = bytes(32), bytes(range(32))
SECRET = "trino://ann:canary@host/lake"
CONNECTIONS = Connections({"warehouse": SecretStr(SECRET)})
ROWS = """
    CREATE TABLE visits (person VARCHAR, ward VARCHAR, age SMALLINT, cost DECIMAL(9, 2),
        urgent BOOLEAN, day DATE, seen TIMESTAMP);
    INSERT INTO visits VALUES
        ('ann', 'a', 30, 1.5, TRUE, '2026-01-01', NULL), ('ann', 'a', 31, 2.5, NULL, NULL, NULL),
        ('ann', 'a', 32, 9, TRUE, NULL, NULL), ('bob', 'b', NULL, 1, TRUE, NULL, NULL),
        (NULL, 'b', 1, 1, TRUE, NULL, NULL), ('cyd', 'elsewhere', 1, 1, TRUE, NULL, NULL)
"""


@dataclass
class Elsewhere(Trino):
    """Describe an engine whose tables have versions, if ``kind`` says what they are."""

    connection: duckdb.DuckDBPyConnection
    kind: str | None = None
    refuses: str = "no such word"
    sessions: list["Watched"] = field(default_factory=list)

    def opened(self, secret: str) -> "Watched":
        assert secret == SECRET
        self.sessions.append(Watched(self))
        return self.sessions[-1]

    def version(self, table: Sequence[str]) -> Any:
        if self.kind is None:
            return super().version(table)
        return (
            "SELECT ? AS kind, v AS version, 'noon' AS now FROM versions",
            {"kind": self.kind},
        )

    def at(self, table: str, now: str) -> str:
        return table if self.kind is None else f"{table} /* at {now} */"


class Watched(OnDuckDB):
    """Refuse statements with a word in them."""

    def __init__(self, engine: Elsewhere) -> None:
        super().__init__(engine.dialect, engine.connection)
        self._engine = engine
        self.closed = False

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        if self._engine.refuses in text:
            raise Refused("canary")
        return super().rows(text, parameters)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def engine() -> Elsewhere:
    made = Elsewhere(duckdb.connect())
    made.connection.execute(ROWS)
    made.connection.execute("CREATE TABLE versions AS SELECT 'one' AS v")
    return made


def dataset(table: str = "main.visits", **columns: Any) -> DatasetSpec:
    return DatasetSpec.model_validate(
        {
            "name": "visits",
            "source": {"engine": "trino", "connection": "warehouse", "table": table},
            "privacy_unit": {"column": "person"},
            "neighboring": "add_remove",
            "columns": {**VISITS, **columns},
        }
    )


def answered(engine: Elsewhere, aggregate: object, fingerprint: bytes) -> list[int]:
    warehouse = Warehouse(engine, CONNECTIONS)
    query = query_of(aggregate, group_by="ward")
    statement = warehouse.statement(interpret(dataset(), query))
    assert warehouse.fits(dataset(), statement)
    answer = warehouse.answer(dataset(), statement, SALT, KEY, fingerprint, silent).steps
    assert answer.dtype == np.int64
    return list(answer.tolist())


def test_a_view_is_checked_recognized_and_counted(engine: Elsewhere) -> None:
    warehouse = Warehouse(engine, CONNECTIONS)
    warehouse.check(dataset())
    assert warehouse.snapshot is Snapshot.NONE
    fingerprint = warehouse.fingerprint(dataset(), KEY, silent)
    warehouse.check_registered(dataset(), KEY, fingerprint, silent)
    assert answered(engine, {"type": "count"}, fingerprint) == [2, 1, 0]
    assert answered(engine, {"type": "sum", "column": "cost"}, fingerprint) == [26, 2, 0]
    assert all(session.closed for session in engine.sessions)


def test_the_same_names_on_another_server_are_other_data(
    engine: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Warehouse(engine, CONNECTIONS).fingerprint(dataset(), KEY, silent)
    monkeypatch.setattr(f"{__name__}.SECRET", SECRET.replace("host", "other"))
    other = Connections({"warehouse": SecretStr(SECRET)})
    assert Warehouse(engine, other).fingerprint(dataset(), KEY, silent) != here
    monkeypatch.setattr(f"{__name__}.SECRET", "trino://bob:changed@host/lake")
    renewed = Connections({"warehouse": SecretStr(SECRET)})
    assert Warehouse(engine, renewed).fingerprint(dataset(), KEY, silent) == here


def test_the_salt_and_the_secret_are_in_no_statement(engine: Elsewhere) -> None:
    fingerprint = Warehouse(engine, CONNECTIONS).fingerprint(dataset(), KEY, silent)
    answered(engine, {"type": "count"}, fingerprint)
    texts = "".join(text for session in engine.sessions for text in session.statements)
    assert SALT.hex() not in texts
    assert "canary" not in texts


@pytest.mark.parametrize(
    ("columns", "place", "message"),
    [
        ({"seen": {"type": "date"}}, "/columns/seen/type", "must be DATE"),
        ({"cost": {"type": "integer"}}, "/columns/cost/type", "TINYINT or SMALLINT"),
        ({"sex": {"type": "string"}}, "/columns/sex", "no such column"),
    ],
)
def test_columns_must_be_there_with_their_types(
    engine: Elsewhere, columns: dict[str, Any], place: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        Warehouse(engine, CONNECTIONS).check(dataset(**columns))
    assert refused.value.errors[0][0] == place


def test_a_table_that_is_not_there_is_named_by_its_place(engine: Elsewhere) -> None:
    for refuses in ("no such word", "information_schema"):
        engine.refuses = refuses
        with pytest.raises(InvalidInput, match="no such table or view on Trino") as refused:
            Warehouse(engine, CONNECTIONS).check(dataset("main.nothing"))
        assert refused.value.errors[0][0] == "/source/table"


def test_an_engine_that_computes_otherwise_reads_no_data(
    engine: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(engine.dialect), "digest", lambda _, node: node)
    monkeypatch.setattr(template, "TEXTS", Texts())  # none that was written with the right digest
    with pytest.raises(Unavailable, match="conformance probe incorrectly"):
        Warehouse(engine, CONNECTIONS).check(dataset())


def test_a_view_with_other_columns_is_not_the_registered_one(engine: Elsewhere) -> None:
    warehouse = Warehouse(engine, CONNECTIONS)
    fingerprint = warehouse.fingerprint(dataset(), KEY, silent)
    engine.connection.execute("ALTER TABLE visits ALTER ward TYPE BLOB")
    with pytest.raises(SourceChanged, match="is not the one that was registered"):
        answered(engine, {"type": "count"}, fingerprint)
    engine.connection.execute("DROP TABLE visits")
    with pytest.raises(SourceChanged, match="cannot be found"):
        warehouse.check_registered(dataset(), KEY, fingerprint, silent)


def test_a_table_with_versions_is_read_as_it_was_registered(engine: Elsewhere) -> None:
    engine.kind = "table"
    warehouse = Warehouse(engine, CONNECTIONS)
    assert warehouse.snapshot is Snapshot.VERSION
    warehouse.check(dataset())
    fingerprint = warehouse.fingerprint(dataset(), KEY, silent)
    assert answered(engine, {"type": "count"}, fingerprint) == [2, 1, 0]
    assert '"main"."visits" /* at noon */' in engine.sessions[-1].statements[-1]
    engine.connection.execute("UPDATE versions SET v = 'two'")
    with pytest.raises(SourceChanged):
        answered(engine, {"type": "count"}, fingerprint)


def test_where_tables_have_versions_a_view_is_refused(engine: Elsewhere) -> None:
    engine.kind = "view"
    with pytest.raises(InvalidInput, match="only tables have versions") as refused:
        Warehouse(engine, CONNECTIONS).check(dataset())
    assert refused.value.errors[0][0] == "/source/table"


def test_what_an_engine_says_is_not_passed_on(engine: Elsewhere) -> None:
    fingerprint = Warehouse(engine, CONNECTIONS).fingerprint(dataset(), KEY, silent)
    warehouse = Warehouse(engine, CONNECTIONS)
    statement = warehouse.statement(interpret(dataset(), query_of(group_by="ward")))
    engine.refuses = "contributed"
    assert not warehouse.fits(dataset(), statement)
    with pytest.raises(Unavailable, match="Nothing was released") as refused:
        warehouse.answer(dataset(), statement, SALT, KEY, fingerprint, silent)
    assert "canary" not in refused.value.detail
    assert refused.value.__suppress_context__


def test_a_statement_that_is_too_long_is_refused(
    engine: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint = Warehouse(engine, CONNECTIONS).fingerprint(dataset(), KEY, silent)
    monkeypatch.setattr(Elsewhere, "longest", 100)
    with pytest.raises(InvalidInput, match="Trino takes 100; group by fewer"):
        answered(engine, {"type": "count"}, fingerprint)


def test_a_connection_that_is_gone_releases_nothing(engine: Elsewhere) -> None:
    with pytest.raises(Unavailable, match="no connection 'warehouse'"):
        Warehouse(engine, Connections()).check_registered(dataset(), KEY, bytes(32), silent)
    with pytest.raises(InvalidInput, match="no connection 'warehouse'"):
        Warehouse(engine, Connections()).check(dataset())


def test_a_connection_is_tried_with_the_probe(engine: Elsewhere) -> None:
    version, conformance = reached(engine, SECRET)
    assert version.startswith("v")
    assert conformance == "passed"
    engine.refuses = "version()"
    with pytest.raises(InvalidInput, match="refuses the connection"):
        reached(engine, SECRET)
