"""Test the history of one's own questions: the caller's alone, and only what they still see."""

from typing import Any

from pydantic import TypeAdapter
from tests.unit.services.previews.people import BY_TOWN, PEOPLE, ROWS
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.queries.sql.own_questions import registered_by
from penstock.services.schemas.queries import DatasetRequest, QueryRequest


def register(world: World, name: str, **changes: Any) -> None:
    spec = {
        **BY_TOWN,
        "name": name,
        "aggregate": {"type": "count"},
        "mechanism": "gaussian",
        "levels": {"internal": {"epsilon": 0.5}},
        **changes,
    }
    request = TypeAdapter[Any](QueryRequest).validate_python(spec)
    registration.register(world.server, OPERATOR, request)


def test_the_newest_questions_come_first_and_others_see_none_of_them(
    world: World, tmp_path: Any
) -> None:
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    spec = {**PEOPLE, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    assert registered_by(world.server, OPERATOR) == []
    register(world, "first")
    register(world, "second", where=[{"column": "age", "op": ">", "value": 30}])
    own = registered_by(world.server, OPERATOR)
    assert [question.name for question in own] == ["second", "first"]
    assert {(question.dataset, question.status) for question in own} == {("people", "active")}
    assert [question.name for question in registered_by(world.server, OPERATOR, 1)] == ["second"]
    assert registered_by(world.server, world.person("pia")) == []
