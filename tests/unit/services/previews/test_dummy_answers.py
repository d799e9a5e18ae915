"""Test trials on made-up rows: for whoever sees the dataset, without its file and its state."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlmodel import select
from tests.unit.services.previews.people import AGGREGATES, BY_TOWN, PEOPLE, ROWS
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.computing.turns import RETRY_SECONDS, LocalTurns
from penstock.errors import Forbidden, InvalidInput, NotFound, TooManyRequests
from penstock.persistence.tables import Charge, Leaf, Query, Release
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.computing import Here
from penstock.services.datasets import datasets, dummy_rows
from penstock.services.previews import dummy_answers
from penstock.services.schemas.previews import DummyAnswerRequest, DummyAnswerView
from penstock.services.schemas.queries import DatasetRequest, QueryRequest

COUNT = {**BY_TOWN, **AGGREGATES["count"], "name": "towns", "mechanism": "gaussian", "share": 0.1}
WHOLE = {"max_groups": 3, "max_rows_per_group": 1000}
KEPT = {"budgets": {"internal": {"epsilon": 16.0}}}
"""Only the more trusted tier sees the dataset."""


def put(world: World, folder: Path, **changes: Any) -> Path:
    """Register the people; the file is another than the made-up rows."""
    path = folder / "people.csv"
    path.write_text(ROWS)
    spec = {**PEOPLE, **changes, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    return path


def tried(world: World, spec: dict[str, Any], by: Principal, **more: int) -> DummyAnswerView:
    query = TypeAdapter[Any](QueryRequest).validate_python(spec)
    return dummy_answers.tried(world.server, by, DummyAnswerRequest(query=query, **more))


def test_the_answer_is_that_of_made_up_rows_whatever_is_in_the_file(
    world: World, tmp_path: Path
) -> None:
    path = put(world, tmp_path)
    ann = world.person("pia")
    answer = tried(world, {**COUNT, "contribution": WHOLE}, ann, rows=50, seed=9)
    rows = dummy_rows.rows(world.server, ann, "people", rows=50, seed=9).items
    towns = Counter(row["town"] for row in rows)
    assert {number.key: number.value for number in answer.numbers} == towns
    assert (answer.dataset, answer.rows, answer.seed, answer.groups) == ("people", 50, 9, ["town"])
    path.unlink()
    assert tried(world, {**COUNT, "contribution": WHOLE}, ann, rows=50, seed=9) == answer


def test_nothing_is_stored_drawn_or_logged(world: World, tmp_path: Path) -> None:
    def stored() -> list[int]:
        with world.server.database.read() as session:
            return [
                len(session.exec(select(table)).all()) for table in (Charge, Leaf, Query, Release)
            ]

    put(world, tmp_path)
    before, taken = stored(), world.streams.taken
    for name, part in AGGREGATES.items():
        numbers = tried(world, {**COUNT, **BY_TOWN, **part, "name": name}, OPERATOR).numbers
        assert {number.statistic for number in numbers} == {
            {"units": "units", "sum": "sum:age", "mean": "mean:age"}.get(name, "n")
        }
    assert stored() == before
    assert world.streams.taken == taken


def test_each_person_has_one_answer_computed_at_a_time(world: World, tmp_path: Path) -> None:
    put(world, tmp_path)
    turns = LocalTurns()
    limited = replace(world, server=replace(world.server, computing=Here(turns)))
    assert turns.take("pia", 60.0)
    with pytest.raises(TooManyRequests, match="still being computed") as refused:
        tried(limited, COUNT, world.person("pia"))
    assert refused.value.data["retry_after"] == RETRY_SECONDS
    assert tried(limited, COUNT, OPERATOR).numbers
    turns.give("pia")
    assert tried(limited, COUNT, world.person("pia")).numbers
    assert turns.take("pia", 60.0)


def test_a_dataset_out_of_sight_is_not_tried(world: World, tmp_path: Path) -> None:
    put(world, tmp_path, **KEPT)
    with pytest.raises(NotFound, match="no dataset 'people'"):
        tried(world, COUNT, world.person("pia"))
    with pytest.raises(NotFound, match="no dataset 'moon'"):
        tried(world, {**COUNT, "dataset": "moon"}, world.person("pia"))
    assert tried(world, COUNT, OPERATOR).numbers


def test_auditors_try_nothing(world: World, tmp_path: Path) -> None:
    put(world, tmp_path)
    with pytest.raises(Forbidden):
        tried(world, COUNT, replace(world.person("pia"), roles=frozenset({"auditor"})))


@pytest.mark.parametrize(
    ("spec", "pointer"),
    [
        ({**COUNT, "group_by": "nothing"}, "/query/group_by/0/column"),
        ({**COUNT, "aggregate": {"type": "workload", "columns": ["town"], "queries": "identity"},
          "group_by": []}, "/query/aggregate"),
        (VISITS, "/query"),
    ],
)  # fmt: skip
def test_refusals_point_into_the_request(
    world: World, tmp_path: Path, spec: dict[str, Any], pointer: str
) -> None:
    put(world, tmp_path)
    with pytest.raises(InvalidInput) as refused:
        tried(world, spec, OPERATOR)
    assert [at for at, _ in refused.value.errors] == [pointer]
