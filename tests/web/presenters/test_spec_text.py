"""Test specs in words."""

from typing import Any

import pytest

from penstock.sentences.phrases import kept
from penstock.web.presenters.spec_text import question, request_of, source_of

A_IS_1 = {"column": "a", "op": "=", "value": 1}
B_IS_2 = {"column": "b", "op": "=", "value": 2}
SLOPE = {"type": "regression", "predictors": ["x"], "outcome": "y"}
WEIGHTS = {"n": 5, "sum:x": 8, "sum:x,x": 7}


@pytest.mark.parametrize(
    ("structure", "phrase"),
    [
        ({"kind": "kary", "k": 2}, "a binary tree"),
        ({"kind": "kary", "k": 5, "subtracting": True}, "5 children per node, with differences"),
        ({"kind": "square_root"}, "the square root"),
        ({"kind": "buffered", "buffers": 8}, "by a few buffers"),
        ({"kind": "of_another_version"}, "of another version"),
    ],
)
def test_a_structure_is_told_in_words(structure: dict[str, Any], phrase: str) -> None:
    assert phrase in kept(structure)


@pytest.mark.parametrize(
    ("spec", "phrase"),
    [
        ({"aggregate": {"type": "count_units"}}, "number of privacy units"),
        ({"aggregate": {"type": "sum", "column": "a"}}, "sum of a"),
        (
            {"aggregate": {"type": "mean", "column": "a", "lower": 0, "upper": 9, "step": 1}},
            "mean of a, values cut to 0 to 9, rounded to steps of 1",
        ),
        (
            {"aggregate": {"type": "histogram", "column": "a", "bins": [0, 1, 5]}},
            "number of rows in each bin of a: bins from 0, 1, the last to 5",
        ),
        (
            {"aggregate": {"type": "count", "columns": ["x", "y"]}},
            "number of rows in which each of these is true: x, y",
        ),
        (
            {"aggregate": {"type": "moments", "columns": ["x", "y"]}},
            "means, variances and correlations of x, y",
        ),
        (
            {"aggregate": {"type": "moments", "columns": ["x"], "weights": WEIGHTS}},
            "means, variances and correlations of x, with weights n 5, sum:x 8, sum:x,x 7",
        ),
        (
            {"aggregate": {**SLOPE, "weights": "equal"}},
            "regression of y on x, with equal weights",
        ),
        (
            {"aggregate": {**SLOPE, "weights": {f"sum:x{number}": 8 for number in range(22)}}},
            "regression of y on x, with a weight for each of 22 numbers",
        ),
        (
            {"aggregate": {"type": "marginals", "columns": [{"column": "x"}], "up_to": 1}},
            "marginals of all sets of at most 1 columns: x",
        ),
        (
            {
                "aggregate": {
                    "type": "marginals",
                    "columns": [{"column": "x"}, {"column": "y", "bins": [0, 1]}],
                    "sets": [["x", "y"], ["x"]],
                }
            },
            "marginals of x and y, x: x and y (bins from 0",
        ),
        (
            {
                "aggregate": {
                    "type": "workload",
                    "columns": [{"column": "x"}, {"column": "y", "bins": [0, 1]}],
                    "queries": ["prefix", [[1], [2]]],
                    "strategy": "tree",
                }
            },
            "up to each one of x, 2 rows of integers of y (1/2); protected are a tree of sums of",
        ),
        (
            {"aggregate": {"type": "regression", "outcome": "y", "predictors": ["x"]}},
            "regression of y on x",
        ),
        (
            {
                "aggregate": {
                    "type": "quantiles",
                    "column": "x",
                    "probabilities": [0.5, 0.9],
                    "lower": 0,
                    "upper": 8,
                    "bins": 64,
                }
            },
            "quantiles of x at 0.5, 0.9, values cut to 0 to 8, from 64 bins",
        ),
        (
            {
                "aggregate": {
                    "type": "quantiles",
                    "column": "x",
                    "probabilities": [0.5],
                    "scale": "log",
                }
            },
            "quantiles of x at 0.5, from bins between powers of two",
        ),
        ({"group_by": [{"column": "a"}, {"column": "b", "bins": [0, 2]}]}, "a and b (bins from 0"),
        ({"where": [{"column": "a", "op": ">=", "value": 1}]}, "a is at least 1"),
        ({"where": [{"column": "a", "op": "in", "value": ["x", 2]}]}, "a is one of x, 2"),
        (
            {
                "where": [
                    {"any": [{"column": "a", "op": "is_null"}, {"not": {"all": [A_IS_1, B_IS_2]}}]},
                    {"not": A_IS_1},
                ]
            },
            "(a is missing or not (a is 1 and b is 2)) and not (a is 1)",
        ),
        (
            {
                "derived": {
                    "x": {"subtract": [{"multiply": [2, {"column": "a"}]}, {"negate": 3}]},
                    "y": {"case": [{"when": A_IS_1, "then": "one"}], "else": {"add": [1, 2]}},
                }
            },
            'x is ((2 * a) - -3); y is ("one" if a is 1, else (1 + 2))',
        ),
        ({"derived": {"x": {"divide": [1, 2], "by": 3}}}, "divide"),
        (
            {"contribution": {"max_groups": 1, "max_rows_per_group": 5}},
            "at most 1 group, at most 5 rows in each group",
        ),
        ({"domain": {"type": "uint64"}}, "integers of 64 bits"),
        ({"domain": {"type": "uint64", "size": 100}}, "integers from 0 to 99"),
        ({"domain": {"type": "string", "alphabet": "ab", "length": 3}}, "texts of 3 characters"),
        ({"domain": {"type": "another"}}, '{"type": "another"}'),
        ({"aggregate": {"type": "of another version"}}, "of another version"),
    ],
)
def test_a_spec_is_told_in_words(spec: dict[str, Any], phrase: str) -> None:
    ((_, words),) = question({"name": "q", **spec, "max_levels": 3})
    assert phrase in words


def test_a_request_is_told_with_its_noise_and_its_levels() -> None:
    spec = {
        "name": "q",
        "aggregate": {"type": "count"},
        "mechanism": "generalized_gaussian",
        "p": 4,
        "levels": {"public": {"epsilon": 0.1}, "internal": {"half_width": 5, "confidence": 0.9}},
    }
    assert request_of(spec) == [
        ("Statistic", "number of rows"),
        ("Noise", "generalized gaussian"),
        ("Power of the noise", "4"),
        ("Levels", "public: epsilon 0.1; internal: half width 5, confidence 0.9"),
    ]
    assert request_of({"share": 0.25}) == [("Share", "25% of every tier's budget")]
    assert request_of({"levels": {"public": 0.1}}) == [("Levels", '{"public": 0.1}')]
    assert request_of({"group_by": ["town"]}) == [("Group by", '["town"]')]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"engine": "duckdb", "uri": "a.csv"}, "the file a.csv"),
        (
            {"engine": "duckdb", "uri": "s3://a/b.csv", "connection": "lake"},
            "the file s3://a/b.csv, read under the connection lake",
        ),
        (
            {"engine": "postgresql", "table": "public.a", "connection": "house"},
            "the view public.a, read by postgresql under the connection house",
        ),
    ],
)
def test_a_source_is_told_in_words(source: dict[str, str], words: str) -> None:
    assert source_of(source) == words
