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
    derived = {"x": {"case": [{"when": URGENT, "then": "[0, 1]"}]}}
    assert written(query_of(derived=derived, group_by=["x"]), dataset_of()) is None
    derived["x"]["case"][0]["then"] = "0 to 1"
    assert written(query_of(derived=derived, group_by=["x"]), dataset_of()) is not None
