"""Test that what derived columns say is counted, wherever a query names them."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.formulas.expressions import Expression
from penstock.connectors.formulas.sizes import LARGEST, LARGEST_USED, names_of, size_of
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.sql.writing.statement import written
from penstock.errors import InvalidInput

AGE = {"column": "age"}
_EXPRESSIONS: TypeAdapter[Any] = TypeAdapter(Expression)


def _listing(values: int) -> dict[str, Any]:
    when = {"column": "age", "op": "in", "value": list(range(values))}
    return {"case": [{"when": when, "then": 1}], "else": 0}


def _refused(**fields: Any) -> tuple[str, str]:
    with pytest.raises(InvalidInput) as caught:
        interpret(dataset_of(), query_of(**fields))
    ((place, sentence),) = caught.value.errors
    return place, sentence


@pytest.mark.parametrize(
    ("expression", "size"),
    [
        (3, 1),
        (AGE, 1),
        ({"add": [AGE, {"negate": {"multiply": [AGE, 2]}}]}, 6),
        (_listing(1), 5),
        (_listing(7), 11),
    ],
)
def test_parts_and_values_are_counted(expression: object, size: int) -> None:
    assert size_of(_EXPRESSIONS.validate_python(expression)) == size


def test_each_comparison_names_its_column() -> None:
    one, two = ({"column": name, "op": "is_null"} for name in ("age", "cost"))
    where = [{"not": {"any": [one, {"all": [one, two]}]}}, two]
    assert sorted(names_of(query_of(where=where).where)) == ["age", "age", "cost", "cost"]


def test_a_derived_column_has_at_most_a_thousand_parts() -> None:
    interpret(dataset_of(), query_of(derived={"x": _listing(LARGEST - 4)}))
    place, sentence = _refused(derived={"x": _listing(LARGEST - 3)})
    assert (place, f"has {LARGEST + 1} parts" in sentence) == ("/derived/x", True)


def test_all_that_conditions_say_of_derived_columns_is_bounded() -> None:
    derived = {"x": _listing(LARGEST - 4), "y": AGE}
    where = [{"column": "x", "op": "!=", "value": number} for number in range(10)]
    interpret(dataset_of(), query_of(derived=derived, where=where))
    more = [{"not": {"any": [*where, {"column": "y", "op": "=", "value": 3}]}}]
    place, sentence = _refused(derived=derived, where=more)
    assert place == "/derived/x"
    assert f"11 times, with {LARGEST_USED + 1} parts" in sentence
    assert "named 10 times" in sentence


def test_a_column_in_very_many_bins_is_not_written() -> None:
    derived = {"x": {"add": [AGE] * 60}}
    for bins, is_written in ((3, True), (5000, False)):
        group = {"column": "x", "bins": list(range(bins))}
        query = query_of(derived=derived, group_by=[group])
        assert (written(query, dataset_of()) is not None) == is_written
