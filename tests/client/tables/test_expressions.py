"""Test expressions: what they become in a spec, and what is refused."""

import datetime
from collections.abc import Callable

import numpy as np
import pytest

from penstock_client import Condition, Expression, InvalidArgument, case, col, lit
from penstock_client.tables.expressions import scalar

A, B = col("a"), col("b")
IS_A, IS_B = {"column": "a"}, {"column": "b"}


@pytest.mark.parametrize(
    ("expression", "spec"),
    [
        (A, IS_A),
        (lit(3), 3),
        (A + B + 1, {"add": [IS_A, IS_B, 1]}),
        (1 + A, {"add": [1, IS_A]}),
        (A - B - 1, {"subtract": [{"subtract": [IS_A, IS_B]}, 1]}),
        (10 - A, {"subtract": [10, IS_A]}),
        (2 * A * B, {"multiply": [2, IS_A, IS_B]}),
        (-A, {"negate": IS_A}),
        (
            case((A > 3, "high"), (B.is_null(), "none"), otherwise="low"),
            {
                "case": [
                    {"when": {"column": "a", "op": ">", "value": 3}, "then": "high"},
                    {"when": {"column": "b", "op": "is_null"}, "then": "none"},
                ],
                "else": "low",
            },
        ),
        (
            case((col("flag"), A)),
            {"case": [{"when": {"column": "flag", "op": "=", "value": True}, "then": IS_A}]},
        ),
    ],
)
def test_an_expression_becomes_that_of_a_spec(expression: Expression, spec: object) -> None:
    assert expression.spec({}) == spec


def test_columns_that_were_added_are_replaced_by_their_expressions() -> None:
    added = {"total": A + B}
    assert (col("total") * 2).spec(added) == {"multiply": [{"add": [IS_A, IS_B]}, 2]}
    with pytest.raises(InvalidArgument, match="a column of the dataset, not total"):
        case((col("total") > 3, 1)).spec(added)


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda: A / B, "not divided"),
        (lambda: A % 2, "not divided"),
        (lambda: A + 0.5, "integers and texts"),
        (lambda: A + "x", "integers; a text"),
        (lambda: A + (B > 1), r"case\(\(condition, 1\)"),
        (lambda: col(""), "has a name"),
        (lambda: case(), "pairs of a condition and a value"),
        (lambda: case(A > 1), "pairs of a condition and a value"),  # type: ignore[arg-type]
        (lambda: A.bin([3]), "at least two edges"),
        (lambda: A.bin([3, 3]), "rise"),
        (lambda: A.bin([3, "x"]), "rise"),  # type: ignore[list-item] # the misuse
        (lambda: A.quantile(1), "between 0 and 1"),
        (lambda: bool(A), "neither true nor false"),
    ],
)
def test_what_a_spec_cannot_say_is_refused(misuse: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        misuse()


def test_values_are_what_json_has() -> None:
    assert scalar(np.int64(3)) == 3
    assert type(scalar(np.int64(3))) is int
    assert scalar(datetime.date(2026, 11, 20)) == "2026-11-20"
    condition: Condition = A.__gt__(np.int64(3))
    assert condition.entry(str) == {"column": "a", "op": ">", "value": 3}
    assert (np.int64(3) + A).spec({}) == {"add": [3, IS_A]}


def test_an_expression_is_written_for_people() -> None:
    assert str((A + B) * 2 - 1) == "((a + b) * 2) - 1"
    assert str(-A) == "-a"
    assert str(case((A > 3, B))) == "case of b, a"
