"""Test where the edges of bins are, and that what is planned plans the same again."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.connectors.binned.edges import edges_of, planned
from penstock.connectors.binned.quantiles import Quantiles
from penstock.errors import InvalidInput


def settled(column: str, **fields: Any) -> Quantiles:
    aggregate = Quantiles.model_validate({"type": "quantiles", "column": column, **fields})
    return planned(dataset_of(), aggregate)


def test_numbers_have_as_many_bins_of_one_width_as_are_asked_for() -> None:
    assert edges_of(settled("cost", bins=4)) == (-10, 5, 20, 35, 50)
    assert len(edges_of(settled("cost"))) == 1025


@given(lower=st.integers(-(10**6), 10**6), more=st.integers(1, 10**6), bins=st.integers(2, 4096))
def test_whole_numbers_have_bins_of_whole_width_and_none_is_left_out(
    lower: int, more: int, bins: int
) -> None:
    own = settled("age", lower=lower, upper=lower + more, bins=bins)
    edges = edges_of(own)
    widths = {high - low for low, high in pairwise(edges)}
    (width,) = widths
    assert width == int(width)
    assert len(edges) - 1 <= bins
    assert edges[0] == lower
    assert edges[-1] > lower + more >= edges[-2]
    again = settled("age", **own.model_dump(exclude={"type", "column"}))
    assert again == own


def test_bins_between_powers_of_two_have_either_sign_and_need_no_bounds() -> None:
    whole = edges_of(settled("age", scale="log"))
    assert whole[60:67] == (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0)
    numbers = edges_of(settled("cost", scale="log"))
    assert (numbers[0], numbers[-1], len(numbers)) == (-(2.0**66), 2.0**66, 255)
    assert numbers[126:129] == (-(2.0**-60), 0.0, 2.0**-60)


def test_other_probabilities_are_the_same_statistic() -> None:
    hashes = {
        prepared(
            dataset_of(), query_of({"type": "quantiles", "column": "age", **fields})
        ).canonical_hash
        for fields in ({}, {"probabilities": 0.9}, {"lower": 0, "upper": 120.5}, {"bins": 121})
    }
    assert len(hashes) == 1
    other = prepared(dataset_of(), query_of({"type": "quantiles", "column": "age", "bins": 60}))
    assert other.canonical_hash not in hashes


@pytest.mark.parametrize(
    ("column", "fields", "message"),
    [
        ("age", {"lower": 5, "upper": 5.5}, "is a constant"),
        ("age", {"lower": -(2**60)}, "up to 2.53"),
        ("cost", {"lower": 1e15, "upper": 1e15 + 1}, "too near"),
        ("ward", {}, "Only integers and numbers"),
        ("cost", {"scale": "log", "bins": 7}, "leave this out"),
        ("cost", {"whole": True}, "leave whole out"),
    ],
)
def test_what_has_no_bins_is_refused(column: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        edges_of(settled(column, **fields))
