"""Test that Spark gives the exact vectors and the chosen rows that DuckDB gives.

It stands beside the tests that share one Spark, since a Java that has just started is slow: few
kinds and few random rows and specs run at every change, all kinds and many rows every night.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.databases import spark
from tests.databases.spark import Cluster
from tests.property.engines import Engine, arrow_table, differences, duckdb, every
from tests.property.typed_rows import HOSTILE, MANY, UNITS, Row, meaningful, rows, specs
from tests.support.thorough import by_count

from penstock.connectors.spark import conformance
from penstock.connectors.spark.session import reading

Pair = tuple[Engine, Engine]

PLACES = {"local": 0, "server": 3}
"""Where each Spark begins in the list of kinds, of which it answers every sixth by day."""


@pytest.fixture(scope="module", params=PLACES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """Yield Spark, within this process and behind Spark Connect, and DuckDB."""
    running: Cluster = request.getfixturevalue(request.param)
    with reading(running.address) as session:
        # Other tests ask the questions; here the answers are compared with DuckDB's.
        conformance.PASSED.add((running.address, session.version))
    engine = Engine(
        dict(spark.source_of("everything")),
        running.sources,
        lambda rows: running.fill("everything", arrow_table(rows)),
    )
    with duckdb(request, tmp_path_factory.mktemp("reference")) as reference:
        yield engine, reference


@pytest.mark.parametrize(("pair", "first"), PLACES.items(), indirect=["pair"], ids=PLACES)
def test_kinds_have_the_same_vector_whatever_the_cells(
    pair: Pair, first: int, capfd: pytest.CaptureFixture[str]
) -> None:
    for engine in pair:
        engine.fill([*MANY, *HOSTILE, *HOSTILE])
    queries = every(pair[0], UNITS[0])[by_count(first, 0) :: by_count(6, 1)]
    assert differences(*pair, UNITS[0], queries) == []
    assert "hostile" not in "".join(capfd.readouterr())


@settings(
    max_examples=by_count(4, 100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=rows, requests=specs, unit=st.sampled_from(UNITS))
def test_any_rows_and_specs_have_the_same_vector(
    pair: Pair, rows: list[Row], requests: list[dict[str, Any]], unit: dict[str, Any]
) -> None:
    for engine in pair:
        engine.fill(rows)
    assert differences(*pair, unit, meaningful(pair[0].dataset(unit), requests)) == []
