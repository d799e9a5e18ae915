"""Test that every forest answers prefix sums, at the cost that it states."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity
from penstock.structures import (
    Epochs,
    Forest,
    KaryTree,
    SmoothBinary,
    balanced,
    binary_tree,
    smooth_binary,
)
from penstock.structures.shared_nodes import MOST_CHOSEN
from penstock.structures.streams import kary
from penstock.structures.streams import smooth_binary as smooth_binary_module
from penstock.structures.streams.choice import Tree
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


def _moved(forest: Forest, count: int) -> tuple[float, float, float]:
    """Return the largest norms of sums of ``count`` columns of ``R``, tried one by one."""
    _, strategy = matrices(forest, forest.length or 20)
    strategy = np.abs(strategy)
    sums = [
        strategy[:, list(chosen)].sum(axis=1)
        for chosen in itertools.combinations(range(strategy.shape[1]), count)
    ]
    return (
        max(float(moved.sum()) for moved in sums),
        max(float((moved**2).sum()) for moved in sums),
        max(float(moved.max()) for moved in sums),
    )


def _norms(moved: Sensitivity) -> tuple[float, float, float]:
    return float(moved.l1), float(moved.l2_squared), float(moved.linf)


SMALL: list[Tree] = [
    *(binary_tree(length) for length in (1, 2, 5, 8, 13, 20)),
    *(KaryTree(length, k) for length in (1, 4, 5, 9, 13) for k in (3, 4, 5, 6)),
    *(KaryTree(length, k, subtracting=False) for length in (2, 7, 13) for k in (3, 4)),
    KaryTree(12, 25),
    *(smooth_binary(length, pure=pure) for length in (1, 7, 14) for pure in (True, False)),
    *(SmoothBinary(9, 6, zeros) for zeros in (2, 3, 4)),
]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_the_worst_steps_of_a_unit_move_the_nodes_exactly_as_far_as_is_stated(
    tree: Tree, count: int
) -> None:
    count = min(count, tree.length)
    assert _norms(tree.columns(count)) == _moved(tree, count)


def test_two_and_three_steps_of_a_binary_tree_share_nodes() -> None:
    """Five nodes a step: four times and nine times five would be 20 and 45."""
    squares = [binary_tree(20).columns(count).l2_squared for count in (1, 2, 3)]
    assert squares == [5, 17, 33]


@pytest.mark.parametrize("tree", SMALL, ids=str)
def test_many_steps_of_a_unit_have_a_bound_that_no_steps_exceed(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (kary, smooth_binary_module):
        monkeypatch.setattr(module, "MOST_CHOSEN", 0)
        module._columns.cache_clear()
    for count in range(1, min(tree.length, 4) + 1):
        bound, moved = _norms(tree.columns(count)), _moved(tree, count)
        assert all(most <= stated for most, stated in zip(moved, bound, strict=True))
        assert bound[1] <= count**2 * tree.column_l2_squared
    for module in (kary, smooth_binary_module):
        module._columns.cache_clear()


@pytest.mark.parametrize(
    "tree", [binary_tree(3000), KaryTree(3000, 7), smooth_binary(3000, pure=False)], ids=str
)
def test_the_bound_for_many_steps_is_not_below_what_the_worst_of_them_move(tree: Tree) -> None:
    exact, beyond = tree.columns(MOST_CHOSEN), tree.columns(MOST_CHOSEN + 1)
    assert exact.l1 <= beyond.l1
    assert exact.l2_squared < beyond.l2_squared < 1.2 * float(exact.l2_squared)
    assert tree.columns(10**6) == tree.columns(3000)


@pytest.mark.parametrize("forest", [Epochs(), Epochs(5), Epochs(5, subtracting=False)], ids=str)
def test_steps_of_a_stream_without_an_end_may_all_be_in_the_same_nodes(forest: Forest) -> None:
    columns = matrices(forest, 20)[1]
    parts = np.array([float(1 / weight) for weight in _weights(forest, 20)])
    for count in (1, 2, 3):
        stated = forest.columns(count)
        for chosen in itertools.combinations(range(20), count):
            moved = np.abs(columns[:, list(chosen)]).sum(axis=1)
            assert (moved * parts).sum() <= stated.l1
            assert (moved**2 * parts).sum() <= stated.l2_squared


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
