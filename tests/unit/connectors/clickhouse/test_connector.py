"""Test that views are checked and read, and what is said when they cannot be."""

import logging
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.databases.clickhouse import Tables
from tests.unit.connectors.cases import KEY, SALT, query_of, stated
from tests.unit.connectors.clickhouse.conftest import ROWS

from penstock.connectors import reachable
from penstock.connectors.choice import connector_of
from penstock.connectors.clickhouse import conformance
from penstock.connectors.clickhouse.connector import ClickHouseViews
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, check_registered, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.errors import InvalidInput, SourceChanged, Unavailable


@pytest.fixture(autouse=True)
def passed(monkeypatch: pytest.MonkeyPatch, folder: Tables) -> None:
    """Take the questions as answered, which test_conformance asks."""
    with reading(folder.address) as session:
        monkeypatch.setattr(conformance, "PASSED", {(folder.address, session.version)})


def _asked(sources: Sources, dataset: DatasetSpec, query: ComputedQuery) -> list[int]:
    numbers = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, sources),
        sources=sources,
    ).steps
    return [int(number) for number in numbers]


def test_a_view_is_checked_and_read(tables: Tables, visits: DatasetSpec) -> None:
    connector = connector_of(visits, tables.sources)
    assert isinstance(connector, ClickHouseViews)
    assert connector.snapshot is Snapshot.NONE
    connector.check(visits)
    assert _asked(tables.sources, visits, query_of(group_by=["ward"])) == [2, 1, 1]
    reached = reachable.reach(tables.sources.connections, "tables")
    assert (reached.engine, reached.conformance) == ("clickhouse", reachable.PASSED)
    assert int(reached.version.partition(".")[0]) >= 25


def test_a_clickhouse_that_computes_otherwise_is_reached_and_fails(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "is_right", lambda *_: False)
    assert reachable.reach(tables.sources.connections, "tables").conformance == "failed"


def test_a_view_that_changed_is_not_read(tables: Tables, visits: DatasetSpec) -> None:
    before = fingerprint(visits, KEY, tables.sources)
    check_registered(visits, fingerprint_key=KEY, fingerprint=before, sources=tables.sources)
    tables.fill("visits", pa.table({**ROWS, "age": ROWS["age"].cast(pa.int64())}))
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        check_registered(visits, fingerprint_key=KEY, fingerprint=before, sources=tables.sources)
    tables.fill("visits", pa.table({"person": ["ann"]}))
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        connector_of(visits, tables.sources).fits(visits, stated(visits, query_of()))


def test_a_view_that_is_not_there_is_refused(tables: Tables, visits: DatasetSpec) -> None:
    for table in ("data.none", "no.view", "no.such.view"):
        source = visits.source.model_copy(update={"table": table})
        with pytest.raises(InvalidInput, match="no such view"):
            connector_of(visits, tables.sources).check(visits.model_copy(update={"source": source}))


def test_a_view_that_fails_for_a_row_says_nothing_of_it(
    tables: Tables,
    visits: DatasetSpec,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    tables.run("DROP VIEW IF EXISTS data.failing")
    tables.run(
        "CREATE VIEW data.failing AS SELECT * EXCEPT (age),"
        " toInt32(concat('canary', assumeNotNull(person))) AS age FROM data.visits"
    )
    source = visits.source.model_copy(update={"table": "data.failing"})
    failing = visits.model_copy(update={"source": source})
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as refused:
        _asked(tables.sources, failing, query_of({"type": "sum", "column": "age"}))
    said = f"{refused.value}{refused.value.__cause__}{caplog.text}{capfd.readouterr()}"
    assert "cannot read the view to its end" in said
    assert "canary" not in said


def test_a_query_that_needs_too_much_memory_is_stopped_and_says_so(
    tables: Tables, visits: DatasetSpec
) -> None:
    tables.run("DROP VIEW IF EXISTS data.many")
    tables.run(
        "CREATE VIEW data.many AS SELECT * EXCEPT (person), toString(number) AS person"
        " FROM data.visits, numbers(400000) AS n"
    )
    source = visits.source.model_copy(update={"table": "data.many"})
    large = visits.model_copy(update={"source": source})
    short = replace(tables.sources, memory="20MB")
    with pytest.raises(Unavailable, match="a limit of memory"):
        _asked(short, large, query_of({"type": "count_units"}))
    assert _asked(tables.sources, visits, query_of({"type": "count_units"})) == [2]


def test_a_reading_writes_nothing(tables: Tables) -> None:
    with reading(tables.address) as session:
        for text in (
            "SELECT 1) AS a; DROP TABLE data.visits; SELECT * FROM (SELECT 1",
            "SELECT 1) AS a; SET readonly = 0; SELECT * FROM (SELECT 1",
            "INSERT INTO data.visits (person) VALUES ('x')",
        ):
            with pytest.raises(Unavailable):
                session.table(text, {})
        (row,) = session.table("SELECT count() AS rows FROM data.visits", {}).to_pylist()
    assert row["rows"] == len(ROWS["person"])


def test_a_text_of_another_version_fits_if_it_returns_the_same_columns(
    tables: Tables, visits: DatasetSpec
) -> None:
    connector = connector_of(visits, tables.sources)
    statement = connector.statement(interpret(visits, query_of()))
    assert connector.fits(visits, statement)
    for text in ("SELECT 1 AS other", "DROP TABLE data.visits", "SELECT no FROM such"):
        assert not connector.fits(visits, replace(statement, text=text))
