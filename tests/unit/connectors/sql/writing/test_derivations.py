"""Test how derived columns are written."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.sql.writing.cells import text_of
from penstock.connectors.sql.writing.derivations import writer_of
from penstock.connectors.sql.writing.statement import written

AGE = {"column": "age"}
URGENT = {"column": "urgent", "op": "=", "value": True}


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ({"add": [AGE, 1]}, '("age" + 1)'),
        ({"add": [AGE, -1]}, '("age" + (-1))'),
        ({"subtract": [AGE, {"subtract": [AGE, 3]}]}, '("age" - ("age" - 3))'),
        ({"multiply": [{"add": [AGE, 1]}, AGE]}, '(("age" + 1) * "age")'),
        ({"negate": {"negate": AGE}}, '(-(-"age"))'),
        (
            {"case": [{"when": URGENT, "then": 1}], "else": AGE},
            'CASE WHEN "urgent" = TRUE THEN 1 ELSE "age" END',
        ),
    ],
)
def test_an_expression_is_written(expression: dict[str, Any], text: str) -> None:
    query = query_of(derived={"x": expression})
    assert text_of(writer_of(query, dataset_of()).column("x")) == text


def test_a_case_that_is_named_like_bins_is_not_written() -> None:
    sides = [{"column": "age", "op": op, "value": edge} for op, edge in ((">=", 0), ("<=", 1))]

    def is_written(when: dict[str, Any], then: str = "[0, 1]", **rest: Any) -> bool:
        derived = {"x": {"case": [{"when": when, "then": then}], **rest}}
        return written(query_of(derived=derived, group_by=["x"]), dataset_of()) is not None

    assert not is_written({"all": sides})
    assert not is_written({"all": [{"any": [sides[0]]}, {"not": {"not": sides[1]}}]})
    assert is_written({"all": sides}, "0 to 1")
    assert is_written({"all": sides}, **{"else": "other"})
    assert is_written({"all": [*sides, URGENT]})
    assert is_written(URGENT)
