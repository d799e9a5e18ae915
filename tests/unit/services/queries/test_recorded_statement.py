"""Test the statement that a query's row records is the one that is run, after an upgrade too."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.connectors.cases import dataset_of, prepared, query_of
from tests.unit.worlds import World

from penstock.connectors.duckdb import dialect, source
from penstock.connectors.duckdb.conformance import require_conformance
from penstock.connectors.planning import prepare
from penstock.connectors.planning.domain import Domain
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Plan
from penstock.connectors.planning.sensitivity import Norms
from penstock.connectors.statements import template
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.texts import Texts
from penstock.errors import Conflict, IntegrityViolation, Unavailable
from penstock.persistence.tables import Charge, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.ledger.charges import row_of
from penstock.services.noise.long_vectors import sizes
from penstock.services.previews.query_preview import preview
from penstock.services.queries import exact_answers, queries, registration
from penstock.services.queries.charging import rows
from penstock.services.queries.recorded_statement import is_keys_text, keys_text
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    CorrelatedQueryRequest,
    DatasetRequest,
    HistogramRequest,
    LevelsChange,
)

VISITS: dict[str, Any] = {
    "name": "visits",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south", "west"]},
        "stays": {"type": "integer", "lower": 0, "upper": 4},
    },
    "budgets": {"public": {"epsilon": 2.0}, "internal": {"epsilon": 8.0}},
}

COUNTS: dict[str, Any] = {
    "name": "counts",
    "dataset": "visits",
    "mechanism": "gaussian",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}},
}

MEAN: dict[str, Any] = {**COUNTS, "aggregate": {"type": "mean", "column": "stays"}}

TOGETHER: dict[str, Any] = {
    **COUNTS,
    "structure": "correlated",
    "contribution": {"max_groups": 3, "max_rows_per_group": 1},
}

OPEN: dict[str, Any] = {
    **COUNTS,
    "structure": "sparse_histogram",
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "domain": {"type": "string", "alphabet": "honrstu", "length": 5},
    "false_keys": 0.1,
}

POWER: dict[str, Any] = {**COUNTS, "mechanism": "generalized_gaussian", "p": 4}

Request = ComputedQueryRequest | HistogramRequest

REQUESTS: dict[str, Request] = {
    "counts": ComputedQueryRequest.model_validate(COUNTS),
    "mean": ComputedQueryRequest.model_validate(MEAN),
    "correlated": CorrelatedQueryRequest.model_validate(TOGETHER),
    "independent levels": ComputedQueryRequest.model_validate(POWER),
}

EVERY: dict[str, Request] = {
    **REQUESTS,
    "sparse histogram": HistogramRequest.model_validate(OPEN),
}

MOVED: dict[str, float] = {"raised": 2.0, "lowered": 0.7}
"""Levels above the ceiling, and below it; the latter is read again if levels are independent."""


class Watched:
    """Hold a connection to the engine, and write down the statements that are run on a file."""

    def __init__(self, connection: Any, texts: list[str]) -> None:
        self._connection, self._texts, self._opens = connection, texts, False

    def execute(self, text: str, *parameters: Any) -> Any:
        self._opens = self._opens or "read_csv(" in text
        if parameters and self._opens:
            self._texts.append(text)
        return self._connection.execute(text, *parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.fixture
def texts(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that the engine runs from now on; a dataset is registered."""
    file = tmp_path / "visits.csv"
    file.write_text("person,town,stays\nann,north,1\nbob,south,3\n")
    spec = {**VISITS, "source": {"engine": "duckdb", "uri": str(file)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    require_conformance("csv")
    seen: list[str] = []
    connect: Callable[..., Any] = source.connect
    monkeypatch.setattr(
        source, "connect", lambda *more, **named: Watched(connect(*more, **named), seen)
    )
    return seen


def recorded(world: World) -> str | None:
    with world.server.database.read() as session:
        return session.exec(select(Query)).one().sql


def charges(world: World) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(Charge)).all())


def upgrade(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server write other SQL from now on, as a new version may."""
    written = Dialect.written

    def other(self: Dialect, node: Any) -> str:
        text = written(self, node)
        assert "place <=" in text
        return text.replace("place <=", "0 + place <=")

    monkeypatch.setattr(Dialect, "written", other)
    monkeypatch.setattr(template, "TEXTS", Texts())  # it has none of the earlier version's


def upgrade_the_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server bind another parameter than the recorded text has."""
    for module in (dialect, source):
        monkeypatch.setattr(module, "SALT", "grain")
    monkeypatch.setattr(template, "TEXTS", Texts())


def upgrade_the_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server derive another sensitivity than was charged."""
    moved = Plan.moved

    def other(self: Plan, relation: Any) -> Norms:
        norms = moved(self, relation)
        return replace(norms, l1=2 * norms.l1)

    monkeypatch.setattr(Plan, "moved", other)


def upgrade_the_statistic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server make another statistic of the spec."""
    monkeypatch.setattr(prepare, "canonical_hash", lambda *_: "another")


UNFIT = (upgrade_the_parameter, upgrade_the_sensitivity, upgrade_the_statistic)


def interrupt(world: World, request: Request) -> None:
    """Register a query up to its charge."""

    def fail(*_: object) -> None:
        raise Unavailable("The power failed.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registration, "_anchor", fail)
        with pytest.raises(Unavailable):
            registration.register(world.server, OPERATOR, request)


def move(world: World, epsilon: float) -> None:
    moved = LevelsChange.model_validate({"levels": {"internal": {"epsilon": epsilon}}})
    queries.change(world.server, OPERATOR, "counts", moved)


@contextmanager
def interpretations() -> Iterator[list[object]]:
    """Yield a list of all that is interpreted, by whatever module."""
    seen: list[object] = []

    def counted(*given: Any) -> Any:
        seen.append(given)
        return interpret(*given)

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("penstock.") and vars(module).get("interpret") is interpret:
                patch.setattr(module, "interpret", counted)
        yield seen


@pytest.mark.parametrize("name", list(REQUESTS))
def test_the_recorded_statement_is_the_one_that_is_run(
    world: World, texts: list[str], name: str
) -> None:
    registration.register(world.server, OPERATOR, REQUESTS[name])
    assert texts == [recorded(world)]


def test_a_sparse_histogram_runs_what_it_records(world: World, texts: list[str]) -> None:
    registration.register(world.server, OPERATOR, HistogramRequest.model_validate(OPEN))
    assert texts == [recorded(world)]


def test_a_raised_level_runs_the_recorded_statement_again(world: World, texts: list[str]) -> None:
    registration.register(world.server, OPERATOR, REQUESTS["counts"])
    move(world, 2.0)
    assert texts == [recorded(world)] * 2


@pytest.mark.parametrize("name", list(EVERY))
def test_an_interrupted_registration_is_finished_with_the_recorded_statement(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    interrupt(world, EVERY[name])
    upgrade(monkeypatch)
    assert texts == []
    registration.register(world.server, OPERATOR, EVERY[name])
    assert texts == [recorded(world)]


@pytest.mark.parametrize(
    ("name", "way"),
    [*((name, "raised") for name in REQUESTS), ("independent levels", "lowered")],
)
def test_a_level_that_is_read_again_runs_the_recorded_statement(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    registration.register(world.server, OPERATOR, REQUESTS[name])
    upgrade(monkeypatch)
    move(world, MOVED[way])
    assert texts == [recorded(world)] * 2


@pytest.mark.parametrize("unfit", UNFIT)
def test_a_version_that_cannot_run_the_recorded_statement_reads_and_charges_nothing(
    world: World,
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    unfit: Callable[[pytest.MonkeyPatch], None],
) -> None:
    registration.register(world.server, OPERATOR, REQUESTS["counts"])
    before = charges(world)
    unfit(monkeypatch)
    with pytest.raises(Conflict, match="cannot run the SQL"):
        move(world, 2.0)
    assert (len(texts), charges(world)) == (1, before)


@pytest.mark.parametrize("unfit", UNFIT)
@pytest.mark.parametrize("name", ["counts", "sparse histogram"])
def test_a_version_that_cannot_run_the_recorded_statement_finishes_no_registration(
    world: World,
    texts: list[str],
    monkeypatch: pytest.MonkeyPatch,
    unfit: Callable[[pytest.MonkeyPatch], None],
    name: str,
) -> None:
    interrupt(world, EVERY[name])
    before = charges(world)
    with pytest.MonkeyPatch.context() as patch:
        unfit(patch)
        with pytest.raises(Conflict, match="cannot run the SQL"):
            registration.register(world.server, OPERATOR, EVERY[name])
    assert (texts, charges(world)) == ([], before)
    registration.register(world.server, OPERATOR, EVERY[name])
    assert texts == [recorded(world)]


@pytest.mark.parametrize("column", ["sql", "sql_hash"])
def test_a_text_that_does_not_match_its_hash_is_not_run(
    world: World, texts: list[str], column: str
) -> None:
    registration.register(world.server, OPERATOR, REQUESTS["counts"])
    with world.server.database.write() as session:
        row = session.exec(select(Query)).one()
        setattr(row, column, f"{getattr(row, column)} ")
        session.add(row)
    with pytest.raises(IntegrityViolation, match="does not match its hash"):
        move(world, 2.0)
    assert len(texts) == 1


@pytest.mark.parametrize("name", list(EVERY))
def test_a_spec_is_read_once(world: World, texts: list[str], name: str) -> None:
    with interpretations() as seen:
        registration.register(world.server, OPERATOR, EVERY[name])
    assert (len(seen), len(texts)) == (1, 1)


@pytest.mark.parametrize("name", list(EVERY))
def test_a_preview_reads_a_spec_once(world: World, texts: list[str], name: str) -> None:
    with interpretations() as seen:
        preview(world.server, OPERATOR, EVERY[name])
    assert (len(seen), len(texts)) == (1, 0)


def test_a_level_change_reads_the_stored_spec_once(world: World, texts: list[str]) -> None:
    registration.register(world.server, OPERATOR, REQUESTS["counts"])
    with interpretations() as seen:
        move(world, 2.0)
    assert (len(seen), len(texts)) == (1, 2)


@pytest.mark.parametrize("path", ["finished", "raised"])
def test_a_server_that_runs_what_it_would_write_now_is_found(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(exact_answers, "statement_of", lambda *given: given[2].statement)
    if path == "finished":
        interrupt(world, REQUESTS["counts"])
        upgrade(monkeypatch)
        registration.register(world.server, OPERATOR, REQUESTS["counts"])
    else:
        registration.register(world.server, OPERATOR, REQUESTS["counts"])
        upgrade(monkeypatch)
        move(world, 2.0)
    assert texts[-1] != recorded(world)


def test_a_server_that_records_another_statement_is_found(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def other(*given: Any, sql: str, **own: Any) -> Query:
        return row_of(*given, sql=sql.replace("place <= 1", "place <= 2"), **own)

    monkeypatch.setattr(rows, "row_of", other)
    with pytest.raises(IntegrityViolation, match="does not match its hash"):
        registration.register(world.server, OPERATOR, REQUESTS["counts"])
    assert texts == []


def test_a_server_that_runs_another_statement_is_found(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = prepare.answer

    def other(dataset: Any, statement: Any, **named: Any) -> Any:
        text = statement.text.replace("place <= 1", "place <= 2")
        return answer(dataset, replace(statement, text=text), **named)

    monkeypatch.setattr(prepare, "answer", other)
    registration.register(world.server, OPERATOR, REQUESTS["counts"])
    assert len(texts) == 1
    assert texts != [recorded(world)]


def test_many_keys_are_recorded_by_their_labels_and_read_from_a_list_of_earlier_versions() -> None:
    half = 1 + sizes.MOST_LISTED // 2
    plain = prepared(dataset_of(), query_of({"type": "count"}))
    few, many = (
        replace(plain, keys=Domain((("a", "b"), tuple(map(str, range(count))))))
        for count in (half - 1, half)
    )
    assert json.loads(keys_text(few) or "") == list(few.keys or ())
    assert json.loads(keys_text(many) or "") == {"labels": [["a", "b"], [*map(str, range(half))]]}
    for stored in (keys_text(many), json.dumps(list(many.keys or ()))):
        assert is_keys_text(stored, many)
        assert not is_keys_text(stored, few)
