"""Test that every engine gives the exact vectors and the chosen rows that DuckDB gives.

A unit's rows stand in more groups than may count, so that a vector shows which were chosen.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.property.engines import ENGINES, Engine, differences, duckdb, every
from tests.property.typed_rows import EVERY, HOSTILE, MANY, UNITS, Row, meaningful, rows, specs
from tests.support.thorough import by_count

from penstock.connectors.postgresql import conformance
from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements import template
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.texts import Texts


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Yield one of the engines."""
    with ENGINES[request.param](request, tmp_path_factory.mktemp("engine")) as opened:
        yield opened


@pytest.fixture(scope="module")
def reference(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Yield DuckDB."""
    with duckdb(request, tmp_path_factory.mktemp("reference")) as opened:
        yield opened


@settings(
    max_examples=by_count(5, 100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(rows=rows, requests=specs, unit=st.sampled_from(UNITS))
def test_any_rows_and_specs_have_the_same_vector(
    engine: Engine,
    reference: Engine,
    rows: list[Row],
    requests: list[dict[str, Any]],
    unit: dict[str, Any],
) -> None:
    engine.fill(rows)
    reference.fill(rows)
    queries = meaningful(engine.dataset(unit), requests)
    assert differences(engine, reference, unit, queries) == []


def test_every_kind_has_the_same_vector_over_many_rows(engine: Engine, reference: Engine) -> None:
    engine.fill(MANY)
    reference.fill(MANY)
    queries = every(engine, UNITS[0])
    assert len(queries) == len(EVERY)
    queries = queries[:: engine.step]
    assert differences(engine, reference, UNITS[0], queries) == []
    assert all(map(any, reference.answers(UNITS[0], queries)))


def test_hostile_cells_change_nothing_but_their_own_persons_part(
    engine: Engine, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    queries = every(engine, UNITS[0])[:: engine.step]
    engine.fill(MANY)
    before = engine.answers(UNITS[0], queries)
    with caplog.at_level(logging.DEBUG, logger="penstock"):
        engine.fill([*MANY, *HOSTILE, *HOSTILE])
        after = engine.answers(UNITS[0], queries)
    for query, left, right in zip(queries, before, after, strict=True):
        if query.aggregate.type == "count" and not hasattr(query, "structure"):
            # One person counts in one group, with two rows in each column.
            assert sum(abs(a - b) for a, b in zip(left, right, strict=True)) <= 4
    assert caplog.records == []
    assert "hostile" not in "".join(capfd.readouterr())


def _rounded(self: PostgreSQL, summand: Any, cell: Node, again: Node) -> Node:
    low, high = self.literal(float(summand.lowest)), self.literal(float(summand.highest))
    clamped = sql.clamped(self.scaled(summand, cell, again), low, high)
    return sql.cast(sql.call("round", clamped), self.whole)


def _other_order(self: PostgreSQL, node: Node) -> Node:
    return sql.collated(sql.call("upper", sql.call("md5", sql.call("reverse", node))), "C")


BROKEN: dict[str, tuple[str, Any]] = {
    "it rounds halves to even": ("steps", _rounded),
    "it orders by something else": ("digest", _other_order),
    "it has lengths in bytes": ("length", lambda _, node: sql.call("octet_length", node)),
    "infinity is a number": (
        "is_finite",
        lambda self, node: sql.compared(node, "<=", sql.cast(sql.text("Infinity"), self.real)),
    ),
}


@pytest.mark.parametrize("way", BROKEN)
def test_a_broken_engine_is_rejected(
    request: pytest.FixtureRequest,
    reference: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    monkeypatch.setattr(PostgreSQL, *BROKEN[way])
    monkeypatch.setattr(template, "TEXTS", Texts())
    monkeypatch.setattr(conformance, "require_once", lambda *_: None)
    with ENGINES["postgresql"](request, tmp_path) as broken:
        broken.fill(MANY)
        reference.fill(MANY)
        counted, _, added = every(broken, UNITS[0])[:3]
        assert differences(broken, reference, UNITS[0], [counted, added])
