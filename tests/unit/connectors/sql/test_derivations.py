"""Test how arithmetic and CASE are read as derived columns."""

from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of
from tests.unit.connectors.sql.statements import fields_of, hash_of_sql, refusal_of

from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading

DATASET = dataset_of(
    columns={
        **VISITS,
        "size": {"type": "integer", "lower": 0, "upper": 9, "missing": 5},
        "free": {"type": "integer"},
    }
)
AGE, SIZE = {"column": "age"}, {"column": "size"}


def derived_of(expression: str) -> Any:
    """Return the derived column of a summed expression."""
    fields = fields_of(f"SELECT SUM({expression}) FROM visits", DATASET)
    assert fields["aggregate"] == {"type": "sum", "column": "derived_1"}
    ((name, derived),) = fields["derived"].items()
    assert name == "derived_1"
    return derived


@pytest.mark.parametrize(
    ("expression", "derived"),
    [
        ("age + 1", {"add": [AGE, 1]}),
        ("1 + age + 2 + age", {"add": [1, AGE, 2, AGE]}),
        ("age - 1", {"subtract": [AGE, 1]}),
        ("age - 1 - age", {"subtract": [AGE, {"add": [1, AGE]}]}),
        ("age - (1 - age)", {"subtract": [{"add": [AGE, AGE]}, 1]}),
        ("age * COALESCE(size, 5)", {"multiply": [AGE, SIZE]}),
        ("age + 2 * age", {"add": [AGE, {"multiply": [2, AGE]}]}),
        ("(age + 2) * age", {"multiply": [{"add": [AGE, 2]}, AGE]}),
        ("-age", {"negate": AGE}),
        ("age + -3", {"add": [AGE, -3]}),
        (
            "CASE WHEN urgent THEN age WHEN cost > 3 THEN 7 ELSE -1 END",
            {
                "case": [
                    {"when": {"column": "urgent", "op": "=", "value": True}, "then": AGE},
                    {"when": {"column": "cost", "op": ">", "value": 3}, "then": 7},
                ],
                "else": -1,
            },
        ),
        (
            "CASE WHEN age > 3 THEN 7 ELSE NULL END",
            {"case": [{"when": {"column": "age", "op": ">", "value": 3}, "then": 7}]},
        ),
    ],
)
def test_an_expression_is_a_derived_column(expression: str, derived: object) -> None:
    assert derived_of(expression) == derived


@pytest.mark.parametrize("sign", ["+", "-", "*"])
def test_a_chain_has_64_operands(sign: str) -> None:
    operands = ["age", *["COALESCE(free, 1)"] * 63]
    bounded = dataset_of(columns={**VISITS, "free": {"type": "integer", "lower": 0, "upper": 1}})
    assert fields_of(f"SELECT SUM({sign.join(operands)}) FROM visits", bounded)["derived"]
    for more in (65, 500, 990):
        operands = ["age", *["age"] * (more - 1)]
        refusal = refusal_of(f"SELECT SUM({sign.join(operands)}) FROM visits", bounded)
        assert "at most 64" in refusal


def test_a_query_has_32_derived_columns() -> None:
    sums = [f"SUM(age + {number})" for number in range(1, 34)]
    assert "at most 32 derived columns" in refusal_of(f"SELECT {', '.join(sums)} FROM visits")


def test_a_derived_column_has_the_name_that_the_statement_gives_it() -> None:
    case = "CASE WHEN age < 18 THEN 'young' ELSE 'old' END"
    fields = fields_of(
        f"SELECT {case} AS part, SUM(age + 1) FROM visits WHERE age + 1 > 3 GROUP BY {case}"
    )
    assert list(fields["derived"]) == ["part", "derived_1"]
    assert fields["group_by"] == [{"column": "part"}]
    assert fields["where"] == [{"column": "derived_1", "op": ">", "value": 3}]
    assert fields["aggregate"]["column"] == "derived_1"


@pytest.mark.parametrize(
    "selected",
    [
        "urgent::INT AS part, COUNT(*)",
        "COUNT(*), AVG(urgent::INT) AS part",
        "SUM(age + 1) AS part",
        "SUM(age + 1) FILTER (WHERE urgent) AS part",
        "AVG(age + 1), VAR_POP(age + 1) AS part",
        "MEDIAN(age + 1) AS part",
        "QUANTILE_CONT(age + 1, 0.3) AS part",
        "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY age + 1) AS part, MEDIAN(age + 1)",
        "COUNT(*), SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END) AS part",
        "WIDTH_BUCKET(age + 1, 0, 10, 2) AS part, COUNT(*)",
        "CASE WHEN age + 1 >= 0 AND age + 1 <= 10 THEN '[0, 10]' END AS part, COUNT(*)",
    ],
)
def test_an_alias_names_what_an_aggregate_or_a_group_is_of(selected: str) -> None:
    assert list(fields_of(f"SELECT {selected} FROM visits GROUP BY ALL")["derived"]) == ["part"]


def test_what_has_several_aliases_or_a_taken_one_is_numbered() -> None:
    for selected in ("AVG(age + 1) AS a, VAR_POP(age + 1) AS b", "SUM(age + 1) AS Ward"):
        assert list(fields_of(f"SELECT {selected} FROM visits")["derived"]) == ["derived_1"]
    two = fields_of("SELECT AVG(age + 1) AS a, AVG(-age) AS A FROM visits")
    assert list(two["derived"]) == ["a", "derived_1"]


def test_notes_name_what_is_computed_by_its_alias() -> None:
    text = "SELECT COUNT(*) AS n, SUM(age + 1) AS older FROM visits"
    (note,) = reading(parsed(text), DATASET).notes
    assert "only where older, which is computed here, has a value" in note


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(age + 1) AS {} FROM visits",
        "SELECT COUNT(*), COUNT_IF(age > 3) AS {} FROM visits",
        "SELECT CASE WHEN age < 18 THEN 'young' END AS {}, COUNT(*) FROM visits GROUP BY 1",
        "SELECT WIDTH_BUCKET(age + 1, 0, 9, 3) AS {}, COUNT(*) FROM visits GROUP BY 1",
        "SELECT ward, urgent::INT AS {}, COUNT(*) FROM visits GROUP BY CUBE (1, 2)",
    ],
)
def test_two_aliases_are_one_statistic(text: str) -> None:
    assert hash_of_sql(text.format("mine")) == hash_of_sql(text.format('"your own"'))


def test_a_name_that_the_dataset_has_is_not_taken() -> None:
    case = "CASE WHEN age < 18 THEN 'young' ELSE 'old' END"
    fields = fields_of(f"SELECT {case} AS WARD, COUNT(*) FROM visits GROUP BY 1")
    assert list(fields["derived"]) == ["derived_1"]


def test_bins_are_of_a_derived_column_too() -> None:
    fields = fields_of("SELECT COUNT(*) FROM visits GROUP BY WIDTH_BUCKET(age - 3, 0, 100, 2)")
    assert fields["group_by"] == [{"column": "derived_1", "bins": [0, 50, 100]}]
    assert fields["where"] == [{"column": "derived_1", "op": "<", "value": 100}]


def test_equal_expressions_have_one_hash() -> None:
    texts = ("SUM(age + 1)", "SUM(1 + age)", "SUM((age) - -1)", "SUM(AGE + 2 - 1)")
    assert len({hash_of_sql(f"SELECT {text} FROM visits") for text in texts}) == 1
    assert hash_of_sql("SELECT SUM(age + 2) FROM visits") != hash_of_sql(
        "SELECT SUM(age + 1) FROM visits"
    )


@pytest.mark.parametrize(
    ("expression", "alternative"),
    [
        ("free + 1", "Bounds are needed"),
        ("cost + 1", "is declared as number"),
        ("age + 'x'", "This is a text"),
        ("age + 1.5", "an integer that fits"),
        ("age + 'x' * 2", ""),
        ("size + 1", "5 stands in"),
        ("CASE WHEN urgent THEN 1 ELSE 'x' END", "all integers or all texts"),
        ("CASE WHEN age + 1 > 3 THEN 1 END", "Conditions of CASE compare declared columns"),
        ("CASE WHEN urgent THEN NULL END", ""),
        ("CASE -age WHEN 1 THEN 2 END", ""),
        ("age * age * age * age * age * age * age * age * age", "2^52"),
        ("COALESCE(age, 1, 2)", "one constant"),
        ("age / 2", "no division"),
    ],
)
def test_other_expressions_are_refused(expression: str, alternative: str) -> None:
    refusal = refusal_of(f"SELECT SUM({expression}) FROM visits", DATASET)
    assert refusal.startswith("Line 1, column ")
    assert alternative in refusal
