"""Test conditions: what they become, and that what Python cannot join is refused."""

from collections.abc import Callable

import pytest

from penstock_client import Condition, InvalidArgument, col
from penstock_client.tables.conditions import Value, condition_of


def name_of(expression: Value) -> str:
    return str(expression)


AGE, AREA = col("age"), col("area")


@pytest.mark.parametrize(
    ("condition", "entry"),
    [
        (AGE >= 18, {"column": "age", "op": ">=", "value": 18}),
        (18 <= AGE, {"column": "age", "op": ">=", "value": 18}),  # noqa: SIM300 # the other way
        (AREA == "a", {"column": "area", "op": "=", "value": "a"}),
        (AREA.isin(["a", "b"]), {"column": "area", "op": "in", "value": ["a", "b"]}),
        (~AREA.isin(["a"]), {"column": "area", "op": "not_in", "value": ["a"]}),
        (~(AGE < 18), {"column": "age", "op": ">=", "value": 18}),
        (AGE.is_null(), {"column": "age", "op": "is_null"}),
        (~AGE.is_null(), {"column": "age", "op": "is_not_null"}),
        (~col("smoker"), {"column": "smoker", "op": "!=", "value": True}),
        (
            (AGE < 18) | (AGE > 65) | (AREA == "a"),
            {
                "any": [
                    {"column": "age", "op": "<", "value": 18},
                    {"column": "age", "op": ">", "value": 65},
                    {"column": "area", "op": "=", "value": "a"},
                ]
            },
        ),
        (
            ~(AGE.between(18, 65) & col("smoker")),
            {
                "not": {
                    "all": [
                        {"column": "age", "op": ">=", "value": 18},
                        {"column": "age", "op": "<=", "value": 65},
                        {"column": "smoker", "op": "=", "value": True},
                    ]
                }
            },
        ),
    ],
)
def test_a_condition_becomes_an_entry_of_where(condition: Condition, entry: object) -> None:
    assert condition.entry(name_of) == entry


def test_a_condition_that_is_negated_twice_is_the_first_one() -> None:
    joined = (AGE < 18) | (AGE > 65)
    assert ~~joined is joined


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda: (AGE > 1) and (AGE < 9), "with & and |"),
        (lambda: not (AGE > 1), "negate with ~"),
        (lambda: 18 <= AGE < 65, r"x\.between\(a, b\)"),
        (lambda: AGE and AREA, "with & and |"),  # type: ignore[redundant-expr] # the misuse
        (lambda: AGE in [1, 2], "neither true nor false"),
        (lambda: AGE == 1 & AREA == "a", "in parentheses"),  # type: ignore[comparison-overlap] # the same
        (lambda: (AGE == 1) & "a", "'a' is no condition"),
        (lambda: (AGE == 1) | (3 > 2), "True, the outcome of a comparison in Python"),
        (lambda: condition_of(None), "A NoneType is no condition"),
        (lambda: (AGE + 1) & (AGE > 3), "in parentheses"),
        (lambda: AGE == None, r"is_null\(\)"),  # noqa: E711 # the misuse
        (lambda: AGE > AREA, "their difference"),
        (lambda: float("nan") < AGE, "no value of a cell"),
        (lambda: AREA.isin("ab"), "a list of values"),
        (lambda: AREA.isin([]), "a list of values"),
        (lambda: AREA == b"a", "not a bytes"),
    ],
)
def test_what_python_cannot_join_is_refused_in_plain_words(
    misuse: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        misuse()
