"""Test keys: declared, in one order, made when they are asked for."""

import pytest
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.connectors.planning.domain import Domain


def _keys(**changes: object) -> list[object]:
    keys = prepared(dataset_of(), query_of(**changes)).keys
    assert keys is not None
    return list(keys)


def test_one_grouping_gives_strings() -> None:
    assert _keys(group_by=[{"column": "ward"}]) == ["a", "b", "c"]
    assert _keys(group_by=[{"column": "urgent"}]) == ["false", "true"]
    assert _keys(group_by=[{"column": "day"}]) == ["2026-01-01", "2026-01-02"]


def test_several_groupings_give_lists_of_strings() -> None:
    groups = [{"column": "urgent"}, {"column": "ward"}]
    assert _keys(group_by=groups)[:4] == [
        ["false", "a"],
        ["false", "b"],
        ["false", "c"],
        ["true", "a"],
    ]


def test_no_grouping_gives_all() -> None:
    assert _keys() == ["all"]


def test_bins_are_labeled_by_their_edges_and_the_last_is_closed() -> None:
    bins = [-60, 0, 15.0, 60.5, 1e18]
    labels = ["[-60, 0)", "[0, 15)", "[15, 60.5)", "[60.5, 1000000000000000000]"]
    assert _keys(group_by=[{"column": "cost", "bins": bins}]) == labels
    histogram = {"type": "histogram", "column": "cost", "bins": [-0.0, 1]}
    assert _keys(aggregate=histogram) == ["[0, 1]"]


@pytest.mark.parametrize("labels", [(), (("a", "b"),), (("a", "b"), ("x",), ("1", "2", "3"))])
def test_places_and_iteration_agree(labels: tuple[tuple[str, ...], ...]) -> None:
    domain = Domain(labels)
    keys = list(domain)
    assert len(keys) == len(domain)
    assert [domain[place] for place in range(len(domain))] == keys
    assert domain[-1] == keys[-1]
    assert domain[1:3] == keys[1:3]
    with pytest.raises(IndexError):
        domain[len(domain)]


def test_a_huge_domain_takes_no_room() -> None:
    labels = tuple(str(number) for number in range(3000))
    domain = Domain((labels, labels))
    assert len(domain) == 9_000_000
    assert domain[8_999_999] == ["2999", "2999"]
    assert next(iter(domain)) == ["0", "0"]
