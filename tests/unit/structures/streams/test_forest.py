"""Every forest answers prefix sums, at the cost that it states."""

import math
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
from penstock.structures.streams.forest import chain, matrices, variance_weight

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


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 6, 7])
def test_the_smooth_tree_replaces_as_many_nodes_as_its_closed_form(height: int) -> None:
    """``C(2k+1, k+1) - (k+1)`` over all its transitions (Andersson, Pagh 2023, corrected)."""
    k = height
    tree = SmoothBinary(math.comb(2 * k, k) - 1, 2 * k, k)
    node, replaced = tree.node(1), 0
    if tree.length == 1:
        pattern = (1 << k) - 1
        replaced = len(set(chain(tree, node)) - set(chain(tree, pattern)))
    else:
        before = set(chain(tree, (1 << k) - 1))
        for step in range(1, tree.length + 1):
            now = set(chain(tree, tree.node(step)))
            replaced += len(now - before)
            before = now
    assert replaced == [1, 7, 31, 121, 456, 1709, 6427][k - 1]
    assert replaced == math.comb(2 * k + 1, k + 1) - (k + 1)


@pytest.mark.parametrize(
    ("step", "variance"),
    [(1, 8), (3, 16), (7, 24), (15, 32), (1023, 80)],
)
def test_epochs_have_their_known_variance_at_their_ends(step: int, variance: int) -> None:
    assert 2 * variance_weight(Epochs(), step, squared=True) == variance


def test_epochs_have_their_known_mean_and_largest_variance() -> None:
    for steps, mean, most in [(15, 86.9333, 240), (127, 642.3937, 1776), (1023, 2282.4242, 5904)]:
        found = [2 * variance_weight(Epochs(), step, squared=True) for step in range(1, steps + 1)]
        assert float(sum(found) / steps) == pytest.approx(mean, abs=6e-5)
        assert max(found) == most


def test_epochs_of_gaussian_noise_have_their_known_variances() -> None:
    known = {1: 1, 2: 2, 3: 2, 4: 4, 7: 3, 8: 6, 100: 24, 1000: 63, 1023: 10, 1024: 20}
    known |= {2**20 - 1: 20, 2**20: 40}
    for step, variance in known.items():
        assert variance_weight(Epochs(), step, squared=False) / 2 == variance


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
