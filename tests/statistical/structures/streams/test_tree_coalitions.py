"""Test that a coalition of all tiers of a stream learns at each step what its best tier does.

The strongest linear attack on each running total: generalized least squares over every
output of every tier, its weights taken from the errors themselves.  The coalition has a
member of the best tier from the first step on, and tiers join between and below.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.statistical.sample_sizes import every_size
from tests.statistical.structures.streams.broken_trees import Redrawn
from tests.statistical.structures.streams.trees import (
    MECHANISMS,
    TREES,
    Matrix,
    Tree,
    batches,
    best_estimates,
    summed,
)

from penstock.mechanisms import Mechanism

MANY_BATCHES = 4
TOLERANCE = 0.01
"""One batch is enough: with right tiers the ratio is short of 1 by the share of the noise that
some 60 weights fit, 0.2% of 32,768 values on average, and by a hundredth with a probability below
1e-60.  Tiers that are drawn for themselves gain a quarter and more."""

every_tree = pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
both = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)


def _below(tree: Tree) -> Tree:
    """Return the tree without the tiers that join as the most accurate one."""
    best = min(tree.levels)
    return replace(tree, joining={at: level for at, level in tree.joining.items() if level > best})


def _gain(tree: Tree, samples: Iterator[Matrix]) -> float:
    """Return the least ratio over running totals of the coalition's error to the best tier's."""
    covariance, _, _ = summed(samples)
    at = tree.outputs()
    own = [number for number, (level, _) in enumerate(at) if level == min(tree.levels)]
    alone = best_estimates(covariance[own][:, own], [at[number] for number in own], tree.steps)
    return float((best_estimates(covariance, at, tree.steps) / alone).min())


@every_size
@both
@every_tree
def test_all_tiers_at_all_steps_tell_no_more_than_the_best(
    tree: Tree, mechanism: Mechanism, *, large: bool
) -> None:
    members = _below(tree)
    ratio = _gain(members, batches(members, mechanism, MANY_BATCHES if large else 1))
    assert 1 - TOLERANCE <= ratio <= 1 + 1e-9, ratio


@both
@every_tree
def test_a_tier_that_is_drawn_for_itself_lets_a_coalition_gain(
    tree: Tree, mechanism: Mechanism
) -> None:
    members = _below(tree)
    assert _gain(members, batches(members, mechanism, 1, kind=Redrawn)) < 1 - TOLERANCE
