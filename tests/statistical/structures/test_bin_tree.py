"""Test that running sums of several tiers, drawn in a random order, are points of one noise path.

Every node of a tree over bins has one path of noise, so that running sums of two tiers have the
covariance that least squares gives them, at the more accurate of the two.  Quantiles, distribution
functions and their bands are functions of the running sums of one tier, and of nothing else.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg, stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import Drawer, keyed_streams, lossless, redrawn, stale

from penstock.mechanisms import Gaussian, Laplace, Mechanism
from penstock.structures.bin_tree import BinTree

Matrix = NDArray[np.float64]
Reader = Callable[[Matrix], Matrix]

TREE = BinTree(18)
"""Three levels, of 18, 5 and 2 nodes; the last of the 5 has two bins."""

COUNTS = np.array([[3, 0, 0, 41, 7, 7, 1, 0, 12, 90, 2, 2, 5, 0, 1, 8, 0, 6]], dtype=np.int64)
LEVELS = tuple(Fraction(level) for level in (40, 60, 110, 300))
SAMPLES = 1 << 15
"""The weakest variant is off by 24 deviations of as many Laplace values (measured)."""

TOLERANCE = 0.01
STEPS = 256
"""Of a row: on coarser lattices a Gaussian law of these variances is not exact enough."""

MECHANISMS = (Gaussian(granularity=Fraction(1, STEPS)), Laplace(granularity=Fraction(1, STEPS)))
SHUFFLES = 3

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
every_order = pytest.mark.parametrize("shuffle", range(SHUFFLES))


def order(shuffle: int) -> Sequence[Fraction]:
    """Return the levels in a random order; where another than 40 comes first it is raised."""
    places = keyed_streams(f"order of tiers {shuffle}")().generator.permutation(len(LEVELS))
    return [LEVELS[int(place)] for place in places]


def running(released: Matrix) -> Matrix:
    """Return the running sums that quantiles are read from; the last one is the total."""
    return TREE.running(released).sums


@cache
def nodes(name: str, shuffle: int, drawer: Drawer) -> tuple[Matrix, ...]:
    """Return the released nodes of all tiers, the most accurate first: ``(samples, nodes)``."""
    (mechanism,) = (each for each in MECHANISMS if each.name == name)
    exact = np.tile(STEPS * TREE.nodes(COUNTS).ravel(), SAMPLES)
    streams = keyed_streams(f"bins/{name}/{shuffle}/{drawer.__name__}")
    path = drawer(mechanism, exact, order(shuffle), streams)
    return tuple(path[level].reshape(SAMPLES, TREE.size) / STEPS for level in LEVELS)


def errors(
    mechanism: Mechanism, shuffle: int, drawer: Drawer = lossless, read: Reader = running
) -> Matrix:
    """Return how far running sums of all tiers are off: a row a sample."""
    plain = np.cumsum(COUNTS, axis=1)
    tiers = nodes(mechanism.name, shuffle, drawer)
    return np.concatenate([read(released) - plain for released in tiers], axis=1)


def covariance(mechanism: Mechanism) -> Matrix:
    """Return that of running sums of all tiers, by dense least squares at the better level."""
    rows = np.zeros((TREE.size, TREE.bins))
    for node, (_, first, end) in enumerate(TREE.spans):
        rows[node, first:end] = 1
    sums = np.tril(np.ones((TREE.bins, TREE.bins)))
    own = sums @ np.linalg.inv(rows.T @ rows) @ sums.T
    levels = [float(mechanism.error(level, 0.95).standard_deviation) ** 2 for level in LEVELS]
    return np.asarray(np.kron(np.minimum.outer(levels, levels), own), dtype=np.float64)


def p_value(mechanism: Mechanism, off: Matrix) -> float:
    """Return the least p-value of all pairs of running sums and all means, by Bonferroni."""
    expected = covariance(mechanism)
    found, squares = off.T @ off / SAMPLES, np.square(off).T @ np.square(off) / SAMPLES
    deviations = np.sqrt((squares - found**2) / SAMPLES)
    scores = (np.abs(found - expected) / deviations)[np.triu_indices(len(found))]
    means = np.abs(off.mean(axis=0)) / np.sqrt(np.diagonal(expected) / SAMPLES)
    every = np.append(scores, means)
    return min(1.0, 2 * float(stats.norm.sf(every.max())) * len(every))


def gain(off: Matrix) -> float:
    """Return the least ratio, over running sums, of a coalition's squared error to its best's."""
    found = off.T @ off / SAMPLES
    design = np.tile(np.eye(TREE.bins), (len(LEVELS), 1))
    weighed = linalg.solve(found, design, assume_a="pos")
    together = np.diagonal(np.linalg.inv(design.T @ weighed))
    return float((together / np.diagonal(found)[: TREE.bins]).min())


def of_bins_alone(released: Matrix) -> Matrix:
    """Add up the bins and leave the other nodes out: a broken variant."""
    return np.cumsum(released[:, : TREE.bins], axis=1)


@every_order
@every_mechanism
def test_running_sums_of_tiers_in_a_random_order_have_their_joint_covariance(
    mechanism: Mechanism, shuffle: int
) -> None:
    accept(p_value(mechanism, errors(mechanism, shuffle)), f"bins, {mechanism.name}, {shuffle}")


@pytest.mark.parametrize("drawer", [redrawn, stale], ids=["redrawn", "stale neighbors"])
@every_mechanism
def test_tiers_that_are_drawn_past_each_other_are_found_out(
    mechanism: Mechanism, drawer: Drawer
) -> None:
    assert rejects(p_value(mechanism, errors(mechanism, 0, drawer)))


@every_mechanism
def test_sums_that_leave_nodes_out_are_found_out(mechanism: Mechanism) -> None:
    assert rejects(p_value(mechanism, errors(mechanism, 0, read=of_bins_alone)))


@every_order
@every_mechanism
def test_a_coalition_of_all_tiers_reads_no_better_quantiles_than_its_best_member(
    mechanism: Mechanism, shuffle: int
) -> None:
    assert 1 - TOLERANCE <= gain(errors(mechanism, shuffle)) <= 1 + 1e-9


@every_mechanism
def test_a_coalition_gains_where_tiers_are_drawn_for_themselves(mechanism: Mechanism) -> None:
    assert gain(errors(mechanism, 0, redrawn)) < 1 - TOLERANCE
