"""Test that specs are strict: what they refuse, where they say so, and what they never repeat."""

import json
from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.refusals import invalid_input
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec, PushedVector, VectorSpec
from penstock.spec_fields import Spec

DATASET = dataset_of().model_dump(mode="json", exclude_unset=True)
QUERY = query_of(
    where=[{"column": "age", "op": ">", "value": 1}],
    group_by=[{"column": "age", "bins": [0, 1, 2]}],
).model_dump(mode="json", exclude_unset=True)
VECTOR = {
    "name": "visits",
    "dataset": "sites",
    "keys": ["a", "b"],
    "values": [120, 7],
    "sensitivity": {"l1": 1},
}
SECRET = "a secret that nothing repeats"


def _changed(base: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    body = json.loads(json.dumps(base))
    *parents, last = path.strip("/").split("/")
    place = body
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
    place[int(last) if isinstance(place, list) else last] = value
    return dict(body)


def _places(model: type[Spec], body: object) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    error = invalid_input(caught.value)
    assert SECRET not in error.detail
    assert all(SECRET not in place + detail for place, detail in error.errors)
    assert error.errors[0][0] in error.detail
    return [place for place, _ in error.errors]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/surprise", 1),
        ("/name", ""),
        ("/name", "x" * 65),
        ("/name", "-x"),
        ("/name", "a/b"),
        ("/name", "a\u200bb"),
        ("/name", "a "),
        ("/name", 7),
        ("/name", None),
        ("/source", SECRET),
        ("/source/engine", SECRET),
        ("/source/uri", 7),
        ("/source/uri", ""),
        ("/source/password", SECRET),
        ("/privacy_unit", SECRET),
        ("/privacy_unit", []),
        ("/privacy_unit", {"column": 1}),
        ("/privacy_unit", {"rows": 2}),
        ("/privacy_unit", {"rows": True}),
        ("/neighboring", SECRET),
        ("/max_units", 0),
        ("/max_units", 1.5),
        ("/max_units", 2**60),
        ("/columns", []),
        ("/columns/age/type", SECRET),
        ("/columns/age/lower", SECRET),
        ("/columns/age/lower", float("nan")),
        ("/columns/age/lower", float("inf")),
        ("/columns/age/lower", 10**400),
        ("/columns/age/lower", True),
        ("/columns/age/missing", [1]),
        ("/columns/age/missing", SECRET * 100),
        ("/columns/ward/categories", []),
        ("/columns/ward/categories", SECRET),
        ("/columns/ward/categories", ["a\x00"]),
        ("/columns/ward/categories", ["\ud800"]),
        ("/columns/age/surprise", SECRET),
    ],
)
def test_a_wrong_field_of_a_dataset_is_named(path: str, value: object) -> None:
    places = _places(DatasetSpec, _changed(DATASET, path, value))
    assert len(places) == 1
    assert places[0].startswith(path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/surprise", 1),
        ("/dataset", 1),
        ("/aggregate", SECRET),
        ("/aggregate", {}),
        ("/aggregate", {"type": SECRET}),
        ("/aggregate", {"type": "count", "surprise": SECRET}),
        ("/aggregate/column", "age"),
        ("/aggregate", {"type": "sum"}),
        ("/aggregate", {"type": "sum", "column": "x", "lower": "0"}),
        ("/aggregate", {"type": "histogram", "column": "x", "bins": [1]}),
        ("/where", SECRET),
        ("/where/0/op", "like"),
        ("/where/0/value", None),
        ("/where/0/value", {}),
        ("/where/0/value", []),
        ("/where/0/value", [SECRET, None]),
        ("/where/0/value", [1] * 1001),
        ("/where", [{"column": "a", "op": "=", "value": 1}] * 257),
        ("/group_by/0/bins", [0]),
        ("/group_by/0/bins", [0, "1"]),
        ("/group_by/0/bins/1", float("-inf")),
        ("/group_by/0/column", ""),
        ("/group_by/0/column", "x" * 129),
        ("/contribution", None),
        ("/contribution/max_groups", 0),
        ("/contribution/max_groups", -1),
        ("/contribution/max_groups", 1.0),
        ("/contribution/max_rows_per_group", 2**40),
        ("/contribution/surprise", 1),
    ],
)
def test_a_wrong_field_of_a_query_is_named(path: str, value: object) -> None:
    places = _places(ComputedQuery, _changed(QUERY, path, value))
    assert len(places) == 1
    assert places[0].startswith(path)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/values", SECRET),
        ("/values", {"a": 1}),
        ("/keys", []),
        ("/keys", ["a", "a"]),
        ("/keys", ["a", 1]),
        ("/keys", ["a", SECRET * 100]),
        ("/step", "1"),
        ("/bound", float("nan")),
        ("/sensitivity", 1),
        ("/sensitivity/l2", "1"),
        ("/sensitivity/l3", 1),
    ],
)
def test_a_wrong_field_of_a_vector_is_named(path: str, value: object) -> None:
    places = _places(PushedVector, _changed(VECTOR, path, value))
    assert len(places) == 1
    assert places[0].startswith(path)


def test_missing_fields_are_named() -> None:
    assert _places(DatasetSpec, {}) == ["/name", "/source", "/neighboring"]
    assert _places(ComputedQuery, {}) == ["/name", "/dataset", "/aggregate"]
    assert _places(PushedVector, {}) == ["/name", "/dataset", "/sensitivity", "/values"]
    assert _places(PushedVector, []) == [""]


def test_pointers_are_escaped_and_cut() -> None:
    column = _changed(DATASET, "/columns/age/missing", [])
    column["columns"] = {"a~b/c" * 20: column["columns"]["age"]}
    (place,) = _places(DatasetSpec, column)
    assert (
        place
        == "/columns/" + ("a~b/c" * 20)[:64].replace("~", "~0").replace("/", "~1") + "/missing"
    )


def test_a_refusal_names_at_most_twenty_places() -> None:
    body = {**DATASET, **{f"surprise {number}": 1 for number in range(100)}}
    with pytest.raises(ValidationError) as caught:
        DatasetSpec.model_validate(body)
    error = invalid_input(caught.value)
    assert len(error.errors) == 20
    assert "99 more places" in error.detail


def test_many_wrong_keys_are_refused_at_the_first() -> None:
    with pytest.raises(ValidationError) as caught:
        PushedVector.model_validate({**VECTOR, "keys": [1] * 100_000})
    assert caught.value.error_count() <= 2
    assert [place for place, _ in invalid_input(caught.value).errors] == ["/keys/0"]


def test_specs_survive_json() -> None:
    for spec in (dataset_of(), query_of(), VectorSpec.model_validate(_stored())):
        assert type(spec).model_validate_json(spec.model_dump_json()) == spec
        assert type(spec).model_validate(spec.model_dump(mode="json")) == spec


def _stored() -> dict[str, Any]:
    return PushedVector.model_validate(VECTOR).model_dump(mode="json")


def test_pushed_values_leave_no_trace_in_dumps_and_representations() -> None:
    vector = PushedVector.model_validate({**VECTOR, "values": [8675309, 7]})
    assert vector.values == [8675309, 7]
    for text in (repr(vector), str(vector), vector.model_dump_json(), str(vector.model_dump())):
        assert "8675309" not in text


def test_specs_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValidationError):
        dataset_of().name = "other"  # type: ignore[misc]  # frozen: that is the point
