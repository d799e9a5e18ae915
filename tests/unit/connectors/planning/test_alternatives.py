"""Test the ways to protect the same counts: which there are, and which is the query's own."""

from fractions import Fraction

import pytest
from tests.unit.connectors.cases import VISITS, correlated_of, dataset_of, query_of

from penstock.connectors.planning.alternatives import Alternative, alternatives
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import ComputedQuery
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse

COLUMNS = {**VISITS, "insured": {"type": "boolean"}}
FLAGS = {"type": "count_units", "columns": ["urgent", "insured"]}
QUERIES = [
    query_of(FLAGS),
    correlated_of(FLAGS),
    correlated_of(FLAGS, trade_off=3),
    correlated_of(FLAGS, known_size=40),
    correlated_of(FLAGS, release_size=False),
]


def listed(query: ComputedQuery) -> list[Alternative]:
    dataset = dataset_of(columns=COLUMNS)
    return alternatives(interpret(dataset, query), dataset.neighboring)


@pytest.mark.parametrize("query", QUERIES)
def test_noise_for_each_count_is_the_first_way(query: ComputedQuery) -> None:
    first = listed(query)[0]
    assert first.nodes is None
    assert first.dimension == 2
    assert first.sensitivity.l1 == first.sensitivity.l2_squared == 2


@pytest.mark.parametrize("query", QUERIES)
def test_exactly_one_way_is_the_querys_own(query: ComputedQuery) -> None:
    ways = listed(query)
    assert sum(way.is_own for way in ways) == 1
    assert len({str(way.nodes) for way in ways}) == len(ways)


def test_counts_with_a_size_are_lifted_and_a_known_size_centers_them() -> None:
    nodes = [way.nodes for way in listed(query_of(FLAGS))]
    assert sum(isinstance(node, Lift) for node in nodes) == 2, "two trade-offs"
    assert any(isinstance(node, Centered) for node in nodes)
    assert Ellipse(2, 2) in nodes


def test_columns_under_replace_are_not_without_their_size() -> None:
    dataset = dataset_of(columns=COLUMNS, neighboring="replace")
    ways = alternatives(interpret(dataset, query_of(FLAGS)), dataset.neighboring)
    assert {type(way.nodes) for way in ways} == {type(None), Lift, Centered}


def test_a_trade_off_of_the_querys_own_stands_beside_the_others() -> None:
    ways = listed(correlated_of(FLAGS, trade_off=3))
    [own] = [way for way in ways if way.is_own]
    assert isinstance(own.nodes, Lift)
    assert own.nodes.trade_off == 3
    assert own.sensitivity.l2_squared == Fraction(2 + 9)
    assert len(ways) == len(listed(query_of(FLAGS))) + 1


def test_there_is_no_choice_for_what_cannot_be_protected_together() -> None:
    assert listed(query_of({"type": "sum", "column": "cost"})) == []
