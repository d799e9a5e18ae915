"""A statement runs on rows that are handed over, and its errors are those of reading them."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.connectors.cases import SALT, dataset_of, query_of, stated
from tests.unit.connectors.storage.lakes import Memory

from penstock.connectors.duckdb.streamed import run_streamed
from penstock.connectors.storage.relation import Relation
from penstock.connectors.storage.stores.objects import Part
from penstock.errors import InvalidInput, Unavailable

STATEMENT = stated(dataset_of(), query_of(group_by=[{"column": "ward"}]))
TYPES = {"person": pa.string(), "ward": pa.string()}


def relation_of(store: Memory) -> Any:
    def relation(aliases: Mapping[str, str]) -> Relation:
        assert set(aliases) == set(TYPES)
        return Relation(store, [Part(store.head("1.parquet"))], TYPES, aliases)

    return relation


@pytest.fixture
def store() -> Memory:
    store = Memory()
    store.put_table("1.parquet", {"person": ["p", "p", "q", "q"], "ward": ["a", "a", "b", None]})
    return store


def test_it_answers_with_the_columns_that_the_plan_uses(store: Memory) -> None:
    assert run_streamed(STATEMENT, relation_of(store), SALT).tolist() == [2, 1, 0]


def test_an_error_of_reading_is_raised_as_it_is(
    store: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> bytes:
        raise Unavailable("The store answers with the status 503.")

    monkeypatch.setattr(store, "read", failing)
    with pytest.raises(Unavailable, match="503"):
        run_streamed(STATEMENT, relation_of(store), SALT)


def test_an_error_of_the_engine_is_not_passed_on(store: Memory) -> None:
    class Broken(Relation):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise ValueError("a cell")

    def broken(aliases: Mapping[str, str]) -> Relation:
        return Broken(store, [Part(store.head("1.parquet"))], TYPES, aliases)

    with pytest.raises(InvalidInput) as refused:
        run_streamed(STATEMENT, broken, SALT)
    assert "a cell" not in refused.value.detail
