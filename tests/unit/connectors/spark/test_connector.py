"""Test what is read from a view in Spark, and what is said when it cannot be."""

import contextlib
import io
import logging
from dataclasses import replace

import pyarrow as pa
import pytest
from tests.databases.spark import Cluster
from tests.unit.connectors.cases import KEY, SALT, query_of, stated
from tests.unit.connectors.spark.conftest import ROWS

from penstock.connectors.choice import connector_of
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, check_registered, fingerprint
from penstock.connectors.spark import conformance
from penstock.connectors.spark.connector import SparkViews
from penstock.connectors.spark.relations import declare
from penstock.connectors.spark.session import reading
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.errors import InvalidInput, SourceChanged, Unavailable


@pytest.fixture(autouse=True)
def passed(monkeypatch: pytest.MonkeyPatch, cluster: Cluster) -> None:
    """Take the questions as answered, which test_conformance asks."""
    with reading(cluster.address) as session:
        monkeypatch.setattr(conformance, "PASSED", {(cluster.address, session.version)})


def _asked(cluster: Cluster, dataset: DatasetSpec, query: ComputedQuery) -> list[int]:
    numbers = answer(
        dataset,
        stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, cluster.sources),
        sources=cluster.sources,
    ).steps
    return [int(number) for number in numbers]


def test_a_view_is_checked_and_read(cluster: Cluster, visits: DatasetSpec) -> None:
    connector = connector_of(visits, cluster.sources)
    assert isinstance(connector, SparkViews)
    assert connector.snapshot is Snapshot.NONE
    connector.check(visits)
    assert _asked(cluster, visits, query_of(group_by=["ward"])) == [2, 1, 1]
    costs = query_of({"type": "sum", "column": "cost"})
    assert _asked(cluster, visits, costs) == [-1]


def test_texts_that_are_not_utf8_are_bad_cells(cluster: Cluster, visits: DatasetSpec) -> None:
    columns = ", ".join(name for name in ROWS if name != "ward")
    cluster.define(
        "visits",
        f"SELECT {columns}, CAST(X'61FF' AS STRING) AS ward FROM global_temp.visits",  # noqa: S608
    )
    query = query_of({"type": "uncategorized", "column": "ward"}, group_by=["urgent"])
    # Nobody is in a category, and nothing is said of the bytes.
    assert len(_asked(cluster, visits, query)) == 4
    assert _asked(cluster, visits, query_of(group_by=["ward"])) == [0, 0, 0]


def test_a_view_that_changed_is_not_read(cluster: Cluster, visits: DatasetSpec) -> None:
    before = fingerprint(visits, KEY, cluster.sources)
    cluster.fill("visits", pa.table({**ROWS, "age": ROWS["age"].cast(pa.int64())}))
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        check_registered(visits, fingerprint_key=KEY, fingerprint=before, sources=cluster.sources)
    cluster.fill("visits", pa.table({"person": ["ann"]}))
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        connector_of(visits, cluster.sources).fits(visits, stated(visits, query_of()))


def test_a_view_that_is_not_there_is_refused(cluster: Cluster, visits: DatasetSpec) -> None:
    for table in ("global_temp.none", "no.such.view"):
        source = visits.source.model_copy(update={"table": table})
        with pytest.raises(InvalidInput, match="no such view"):
            connector_of(visits, cluster.sources).check(
                visits.model_copy(update={"source": source})
            )


def test_a_view_that_fails_for_a_row_says_nothing_of_it(
    cluster: Cluster,
    visits: DatasetSpec,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    columns = ", ".join(name for name in ROWS if name != "age")
    cluster.define(
        "visits",
        f"SELECT {columns}, CAST(concat('canary', person) AS INT) AS age"  # noqa: S608
        " FROM global_temp.visits",
    )
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as refused:
        _asked(cluster, visits, query_of({"type": "sum", "column": "age"}))
    said = f"{refused.value}{refused.value.__cause__}{caplog.text}{capfd.readouterr()}"
    assert "did not read the view to its end" in said
    assert "canary" not in said


def test_the_salt_and_the_keys_are_in_no_plan(cluster: Cluster, visits: DatasetSpec) -> None:
    query = query_of(group_by=["ward"])
    statement = stated(visits, query)
    salt = b"a salt that is secret"
    with reading(cluster.address) as session:
        types = session.types("global_temp.visits") or {}
        declare(session, statement, salt, "global_temp.visits", types, reads=True)
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            session._spark.sql(statement.text).explain("extended")
    assert "md5" in shown.getvalue()
    assert salt.hex() not in shown.getvalue()


def test_a_text_of_another_version_fits_if_it_returns_the_same_columns(
    cluster: Cluster, visits: DatasetSpec
) -> None:
    connector = connector_of(visits, cluster.sources)
    statement = connector.statement(interpret(visits, query_of()))
    assert connector.fits(visits, statement)
    for text in ("SELECT 1 AS other", "DROP VIEW global_temp.visits", "SELECT no FROM such"):
        assert not connector.fits(visits, replace(statement, text=text))
