"""Test the statement that a query's row records is the one that is run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.connectors.duckdb import source
from penstock.connectors.duckdb.conformance import require_conformance
from penstock.connectors.planning import prepare
from penstock.connectors.planning.interpret import interpret
from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.ledger.charges import row_of
from penstock.services.queries import queries, registration
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

Request = ComputedQueryRequest | HistogramRequest

REQUESTS: dict[str, Request] = {
    "counts": ComputedQueryRequest.model_validate(COUNTS),
    "mean": ComputedQueryRequest.model_validate(MEAN),
    "correlated": CorrelatedQueryRequest.model_validate(TOGETHER),
}


class Watched:
    """Hold a connection to the engine, and write down the statements with a bound salt."""

    def __init__(self, connection: Any, texts: list[str]) -> None:
        self._connection, self._texts = connection, texts

    def execute(self, text: str, *parameters: Any) -> Any:
        if parameters:
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
    monkeypatch.setattr(source, "connect", lambda *more: Watched(connect(*more), seen))
    return seen


def recorded(world: World) -> str | None:
    with world.server.database.read() as session:
        return session.exec(select(Query)).one().sql


@pytest.mark.parametrize("name", list(REQUESTS))
def test_the_recorded_statement_is_the_one_that_is_run(
    world: World, texts: list[str], name: str
) -> None:
    queries.register(world.server, OPERATOR, REQUESTS[name])
    assert texts == [recorded(world)]


def test_a_sparse_histogram_runs_what_it_records(world: World, texts: list[str]) -> None:
    queries.register(world.server, OPERATOR, HistogramRequest.model_validate(OPEN))
    assert texts == [recorded(world)]


def test_a_raised_level_runs_the_recorded_statement_again(world: World, texts: list[str]) -> None:
    queries.register(world.server, OPERATOR, REQUESTS["counts"])
    raised = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 2.0}}})
    queries.change(world.server, OPERATOR, "counts", raised)
    assert texts == [recorded(world)] * 2


def test_a_spec_is_read_once(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []

    def counted(*given: Any) -> Any:
        read.append(given)
        return interpret(*given)

    monkeypatch.setattr(prepare, "interpret", counted)
    queries.register(world.server, OPERATOR, REQUESTS["counts"])
    assert (len(read), len(texts)) == (1, 1)


def test_a_server_that_records_another_statement_is_found(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:

    def other(*given: Any, sql: str, **own: Any) -> Query:
        return row_of(*given, sql=sql.replace("place <= 1", "place <= 2"), **own)

    monkeypatch.setattr(registration, "row_of", other)
    queries.register(world.server, OPERATOR, REQUESTS["counts"])
    assert len(texts) == 1
    assert texts != [recorded(world)]


def test_a_server_that_runs_another_statement_is_found(
    world: World, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = prepare.answer

    def other(dataset: Any, statement: Any, **named: Any) -> Any:
        text = statement.text.replace("place <= 1", "place <= 2")
        return answer(dataset, replace(statement, text=text), **named)

    monkeypatch.setattr(prepare, "answer", other)
    queries.register(world.server, OPERATOR, REQUESTS["counts"])
    assert len(texts) == 1
    assert texts != [recorded(world)]
