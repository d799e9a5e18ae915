"""Test the parts of a sentence by themselves."""

from typing import Any

import pytest

from penstock.sentences import phrases

AGE: dict[str, Any] = {"column": "age", "op": ">=", "value": 18}
WARD: dict[str, Any] = {"column": "ward", "op": "=", "value": "a"}


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (AGE, "age is at least 18"),
        ({"not": AGE}, "not (age is at least 18)"),
        ({"any": [AGE, WARD]}, "(age is at least 18 or ward is a)"),
        ({"not": {"any": [AGE, WARD]}}, "not (age is at least 18 or ward is a)"),
    ],
    ids=["one", "not", "any", "neither"],
)
def test_a_condition_reads_as_it_selects(condition: dict[str, Any], words: str) -> None:
    assert phrases.conditions([condition]) == words
    assert phrases.conditions([WARD, condition]) == f"ward is a and {words}"


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        ({"kind": "kary", "k": 2}, "a binary tree"),
        ({"kind": "kary", "k": 5}, "a tree with 5 children per node"),
        (
            {"kind": "kary", "k": 2, "subtracting": True},
            "a binary tree, with differences of sums",
        ),
        ({"kind": "square_root"}, "the square root of the matrix of sums"),
    ],
    ids=["binary", "kary", "subtracting", "root"],
)
def test_the_structure_of_a_stream_is_named(structure: dict[str, Any], words: str) -> None:
    assert phrases.kept(structure) == words


def test_equal_bins_are_counted_and_others_listed() -> None:
    def grouped(*bins: int) -> str:
        return phrases.groups([{"column": "age", "bins": bins}, {"column": "ward"}])

    assert grouped(0, 10, 20, 30, 40) == "age (4 bins of 10 from 0 to 40) and ward"
    assert grouped(0, 10, 20, 30, 41) == "age (bins from 0, 10, 20, 30, the last to 41) and ward"


def test_bounds_that_are_whole_numbers_have_no_decimals() -> None:
    part = {"type": "mean", "column": "cost", "lower": 0.0, "upper": 2000.0, "step": 0.5}
    words = phrases.aggregate(part)
    assert words == "mean of cost, values cut to 0 to 2000, rounded to steps of 0.5"
    assert "cut to 0 to 1e+16" in phrases.aggregate({**part, "upper": 1e16})
