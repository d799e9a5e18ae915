"""Test that outputs of trees over time and tiers have the joint covariance of one noise a node.

Two outputs share the noise of the nodes on both their ways, and of two tiers that of the
more accurate one.  Tiers join in the middle of the stream: above, between and below the
others.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats
from tests.statistical.checks import accept, rejects
from tests.statistical.structures.streams.broken_trees import (
    OFF_BY_ONE,
    AllRedrawn,
    Normalized,
    Redrawn,
    Unbridged,
    variance_as_deviation,
)
from tests.statistical.structures.streams.trees import (
    BATCH,
    EPOCHS,
    MECHANISMS,
    SUBTRACTING,
    TREES,
    Matrix,
    Tree,
    batches,
    summed,
)

from penstock.mechanisms import Laplace, Mechanism
from penstock.structures import NodeNoise

BATCHES, MANY_BATCHES = 4, 8
"""Of normal values 131,000, of Laplace ones, whose products have longer tails, twice as many: so
the scores are normal as far out as the alarm is."""

BROKEN = 1
"""Of batches: every broken variant is off by 19 deviations and more of 32,768 values, where the
worst of 2,400 pairs needs 12 to be found out all but certainly (``sample_size_of_mean``)."""

GAUSSIAN, LAPLACE = MECHANISMS
QUANTILES = 12
LATE = 5
"""The first output of the 5-ary tree that its third tier is given."""

_KNOWN: dict[tuple[str, str], tuple[Matrix, Matrix]] = {}
"""What was drawn of late tiers, for the two tests that read it."""

IN_FULL = ((SUBTRACTING, LAPLACE), (EPOCHS, LAPLACE))

every_tree = pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
both = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)


def _p_value(tree: Tree, mechanism: Mechanism, samples: Iterator[Matrix]) -> float:
    """Return the least p-value of all pairs of outputs, by Bonferroni.

    Each mean product is normal, with the deviation that the products themselves show.
    """
    found, squares, count = summed(samples)
    deviations = np.sqrt((squares - found**2) / count)
    pairs = np.triu_indices(len(found))
    scores = (np.abs(found - tree.covariance(mechanism)) / deviations)[pairs]
    return min(1.0, 2 * float(stats.norm.sf(scores.max())) * len(scores))


@pytest.mark.parametrize(
    ("tree", "mechanism", "count"),
    [
        *(pytest.param(tree, GAUSSIAN, BATCHES, id=f"{tree.name}, normal") for tree in TREES),
        *(
            pytest.param(
                tree,
                mechanism,
                MANY_BATCHES,
                id=f"{tree.name}, {mechanism.name}, many",
                marks=[] if (tree, mechanism) in IN_FULL else pytest.mark.nightly,
            )
            for tree in TREES
            for mechanism in MECHANISMS
        ),
    ],
)
def test_outputs_have_the_covariance_of_shared_nodes(
    tree: Tree, mechanism: Mechanism, count: int
) -> None:
    found = _p_value(tree, mechanism, batches(tree, mechanism, count))
    accept(found, f"{tree.name}, {mechanism.name}")


@both
@every_tree
@pytest.mark.parametrize("kind", [Redrawn, AllRedrawn, Unbridged], ids=lambda kind: kind.__name__)
def test_tiers_that_join_in_a_wrong_way_are_found_out(
    tree: Tree, mechanism: Mechanism, kind: type[NodeNoise]
) -> None:
    assert rejects(_p_value(tree, mechanism, batches(tree, mechanism, BROKEN, kind=kind)))


@both
@every_tree
def test_parents_that_are_off_by_one_are_found_out(tree: Tree, mechanism: Mechanism) -> None:
    broken = OFF_BY_ONE[tree.name]
    assert rejects(_p_value(tree, mechanism, batches(tree, mechanism, BROKEN, broken)))


@every_tree
def test_a_variance_passed_as_a_deviation_is_found_out(tree: Tree) -> None:
    broken = variance_as_deviation(GAUSSIAN)
    assert rejects(_p_value(tree, GAUSSIAN, batches(tree, broken, BROKEN)))


def _late_and_top(mechanism: Mechanism, kind: type[NodeNoise]) -> tuple[Matrix, Matrix]:
    """Return outputs of the 5-ary tree right after its third tier joined, and the best tier's."""
    known = _KNOWN.get((mechanism.name, kind.__name__))
    if known is not None:
        return known
    top, late = (
        SUBTRACTING.outputs().index((level, LATE))
        for level in (min(SUBTRACTING.levels), SUBTRACTING.joining[LATE - 1])
    )
    parts = [
        (values[late], values[top])
        for values in batches(SUBTRACTING, mechanism, MANY_BATCHES, kind=kind)
    ]
    assert len(parts[0][0]) == BATCH
    found = (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
    )
    _KNOWN[mechanism.name, kind.__name__] = found
    return found


def _fourth_moment(mechanism: Mechanism, kind: type[NodeNoise]) -> float:
    """Return the P-value of the mean fourth power of the late tier's first output."""
    late, _ = _late_and_top(mechanism, kind)
    nodes = len(SUBTRACTING.ways(LATE))
    level = float(SUBTRACTING.joining[LATE - 1])
    if isinstance(mechanism, Laplace):
        expected = 3 * (2 * nodes * level**2) ** 2 + 12 * nodes * level**4
    else:
        expected = 3 * (nodes * level) ** 2
    powers = late**4
    score = (powers.mean() - expected) / (powers.std() / np.sqrt(len(powers)))
    return 2 * float(stats.norm.sf(abs(score)))


def _independence(mechanism: Mechanism, kind: type[NodeNoise]) -> float:
    """Return the P-value of what the late tier adds being independent of the best tier's noise."""
    late, top = _late_and_top(mechanism, kind)
    codes = []
    for values in (late - top, top):
        cuts = np.unique(np.quantile(values, np.arange(1, QUANTILES) / QUANTILES))
        codes.append(np.searchsorted(cuts, values, side="left"))
    shape = [int(code.max()) + 1 for code in codes]
    counts = np.bincount(np.ravel_multi_index(codes, shape), minlength=int(np.prod(shape)))
    table = counts.reshape(shape)
    kept = table[table.sum(axis=1) > 0]
    return float(stats.chi2_contingency(kept, correction=False).pvalue)


@both
def test_a_late_tier_has_its_fourth_moment(mechanism: Mechanism) -> None:
    accept(_fourth_moment(mechanism, NodeNoise), f"fourth moment, {mechanism.name}")


def test_right_covariances_with_a_wrong_law_are_found_out_by_the_fourth_moment() -> None:
    assert rejects(_fourth_moment(LAPLACE, Normalized))


@both
def test_what_a_late_tier_adds_is_independent_of_the_best_one(mechanism: Mechanism) -> None:
    accept(_independence(mechanism, NodeNoise), f"independence, {mechanism.name}")


@both
def test_a_late_tier_that_is_drawn_for_itself_is_not_independent(mechanism: Mechanism) -> None:
    assert rejects(_independence(mechanism, Redrawn))
