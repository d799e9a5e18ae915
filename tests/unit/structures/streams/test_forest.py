"""Test that every forest answers prefix sums, at the cost that it states."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.structures import (
    Epochs,
    Forest,
    KaryTree,
    SmoothBinary,
    balanced,
    binary_tree,
    smooth_binary,
)
from penstock.structures.streams.forest import chain, matrices

FORESTS: list[Forest] = [
    binary_tree(1),
    binary_tree(33),
    KaryTree(1, 3),
    KaryTree(20, 3),
    KaryTree(40, 3),
    KaryTree(30, 4),
    KaryTree(62, 5),
    KaryTree(50, 6),
    KaryTree(60, 5, subtracting=False),
    KaryTree(12, 25),
    balanced(60),
    SmoothBinary(60, 9, 3),
    smooth_binary(60, pure=True),
    smooth_binary(1, pure=False),
    Epochs(),
    Epochs(5),
    Epochs(5, subtracting=False),
]


def _weights(forest: Forest, steps: int) -> list[Fraction]:
    nodes = {node for step in range(1, steps + 1) for node in chain(forest, forest.node(step))}
    return [forest.weight(node) for node in sorted(nodes)]


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_the_matrices_multiply_to_prefix_sums(forest: Forest) -> None:
    steps = forest.length or 63
    decoder, strategy = matrices(forest, steps)
    assert (decoder @ strategy == np.tril(np.ones((steps, steps)))).all()


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_no_element_weighs_more_than_is_stated(forest: Forest) -> None:
    steps = forest.length or 63
    _, strategy = matrices(forest, steps)
    parts = np.array([1 / weight for weight in _weights(forest, steps)])
    columns = (np.abs(strategy) * parts[:, None]).sum(axis=0)
    assert max(columns) <= forest.column_l1 == forest.column_l2_squared
    assert (strategy != 0).sum(axis=0).max() <= forest.nodes_a_step
    if steps > 3:
        assert max(columns) == forest.column_l1


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_a_forest_is_lossless_where_outputs_determine_all_noises(forest: Forest) -> None:
    decoder, _ = matrices(forest, forest.length or 63)
    assert forest.lossless == (np.linalg.matrix_rank(decoder) == decoder.shape[1])


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_forests_that_look_at_the_past_alone_have_no_node_of_later_elements(
    forest: Forest,
) -> None:
    steps = min(forest.length or 63, 55)
    farthest = [
        max(forest.position(node) for node in chain(forest, forest.node(step)))
        for step in range(1, steps + 1)
    ]
    ahead = [place > step for step, place in enumerate(farthest, start=1)]
    low = isinstance(forest, KaryTree) and forest.height == 1
    assert forest.past_only == (not any(ahead)) or (low and not forest.past_only)


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_nodes_are_reached_step_by_step_as_well(forest: Forest) -> None:
    node = forest.node(1)
    for step in range(1, forest.length or 63):
        node = forest.following(step, node)
        assert node == forest.node(step + 1)
        assert forest.position(node) == step + 1
    with pytest.raises(InvalidInput, match="outside of the stream"):
        forest.node(0)
    if forest.length:
        with pytest.raises(InvalidInput, match="outside of the stream"):
            forest.following(forest.length, node)


@pytest.mark.parametrize("forest", FORESTS, ids=str)
def test_a_node_serves_one_contiguous_time(forest: Forest) -> None:
    steps = forest.length or 63
    seen: dict[int, list[int]] = {}
    for step in range(1, steps + 1):
        for node in chain(forest, forest.node(step)):
            seen.setdefault(node, []).append(step)
    assert all(times == list(range(times[0], times[-1] + 1)) for times in seen.values())


def test_impossible_trees_are_refused() -> None:
    for make in (
        lambda: KaryTree(0, 3),
        lambda: KaryTree(10, 2),
        lambda: KaryTree(10, 1, subtracting=False),
        lambda: SmoothBinary(6, 4, 2),
        lambda: SmoothBinary(1, 4, 0),
        lambda: balanced(0),
    ):
        with pytest.raises(InvalidInput):
            make()
