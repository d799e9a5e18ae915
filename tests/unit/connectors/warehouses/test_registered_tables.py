"""Test that a dataset in a warehouse is registered, queried and shown, and its secret nowhere."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from pydantic import SecretStr
from tests.unit.connectors.warehouses.on_duckdb import OnDuckDB
from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.worlds import World

from penstock.connectors.specs import sources
from penstock.connectors.warehouses.trino import Trino
from penstock.errors import Conflict, SourceChanged, Unavailable
from penstock.persistence.tables import Dataset
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest

SECRET = "trino://reader:canary-4711@trino.example.org/lake"
SOURCE = {"engine": "trino", "connection": "warehouse", "table": "main.stays"}
REQUEST = DatasetRequest.model_validate({**STAYS, "source": SOURCE})


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> duckdb.DuckDBPyConnection:
    """Return DuckDB in the place of Trino, with a table of stays."""
    (tmp_path / "stays.csv").write_text(ROWS)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE stays AS FROM read_csv(?)", [str(tmp_path / "stays.csv")])
    monkeypatch.setitem(sources.EXTRAS, "trino", ("trino", ()))
    monkeypatch.setattr(Trino, "opened", lambda engine, _: OnDuckDB(engine.dialect, connection))
    return connection


def connected(world: World) -> Server:
    connections = {"warehouse": SecretStr(SECRET)}
    settings = world.server.settings.model_copy(update={"connections": connections})
    return replace(world.server, settings=settings)


def test_a_view_is_registered_queried_and_shown_without_its_secret(
    visits: World, engine: duckdb.DuckDBPyConnection
) -> None:
    server = connected(visits)
    made = datasets.register(server, OPERATOR, REQUEST)
    assert made.source == {**SOURCE, "snapshot": "none"}
    query = registration.register(
        server,
        OPERATOR,
        ComputedQueryRequest.model_validate(
            {
                **BY_TOWN,
                "aggregate": {"type": "count_units"},
                "mechanism": "gaussian",
                "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 1}},
            }
        ),
    )
    assert "DECIMAL(38, 0)" in str(query.sql)
    with pytest.raises(Conflict, match="registered already"):
        datasets.register(server, OPERATOR, REQUEST.model_copy(update={"name": "again"}))
    with server.database.read() as session:
        stored = session.get(Dataset, 2)
        assert stored is not None
        assert '"connection": "warehouse"' in stored.spec
    home = server.settings.home
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if b"canary-4711" in path.read_bytes()]


def test_without_its_connection_or_its_columns_a_view_answers_nothing(
    visits: World, engine: duckdb.DuckDBPyConnection
) -> None:
    server = connected(visits)
    datasets.register(server, OPERATOR, REQUEST)
    query = ComputedQueryRequest.model_validate(
        {
            **BY_TOWN,
            "aggregate": {"type": "count_units"},
            "mechanism": "gaussian",
            "levels": {"public": {"epsilon": 0.1}},
        }
    )
    with pytest.raises(Unavailable, match="PENSTOCK_CONNECTION_WAREHOUSE"):
        registration.register(visits.server, OPERATOR, query)
    engine.execute("ALTER TABLE stays DROP town")
    with pytest.raises(SourceChanged, match="on Trino"):
        registration.register(server, OPERATOR, query)
