"""Test that what a release adds to the best one is independent of the best one's own noise.

Covariances cannot see a wrong law, nor lost ties; the joint table and the frequency of
exact ties can.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.statistical.broken import float_laplace_pair, one_sided_bridge, uniform_bridge
from tests.statistical.cases import Case, every_case
from tests.statistical.checks import accept, cells_of, frequency, joint_chi_squared, rejects
from tests.statistical.processes.paths import Path, keyed_streams, lossless, zeros
from tests.statistical.sample_sizes import every_size

from penstock.mechanisms import Mechanism

SIZE, LARGE = 1 << 16, 1 << 20
"""Both variants need 2,000 values at most (measured over 2^16, by ``sample_sizes``); 2^16 leave
250 to each of 256 cells.  Lost atoms are counted in the large sample at every change."""


def _raised_path(case: Case, mechanism: Mechanism, label: str, *, large: bool) -> Path:
    """Return the best release last, by raising the ceiling, and others bridged before."""
    order = [case.levels[place] for place in (1, 5, 3, 2, 4, 0)]
    exact = zeros(LARGE if large else SIZE)
    return lossless(mechanism, exact, order, keyed_streams(f"excess/{label}/{case.name}"))


def _independence(case: Case, path: Path, level: Fraction) -> float:
    best = case.levels[0]
    laws = (case.law(Fraction(0), best), case.law(best, level))
    return joint_chi_squared(
        [path[best], path[level] - path[best]], [cells_of(law, 16) for law in laws]
    )


@every_size
@every_case
def test_excess_noise_is_independent_of_the_best_release(case: Case, *, large: bool) -> None:
    path = _raised_path(case, case.mechanism, "right", large=large)
    for level in case.levels[1:]:
        accept(_independence(case, path, level), f"{case.name} excess at {level}")


@every_size
@every_case
@pytest.mark.parametrize("variant", [uniform_bridge, one_sided_bridge])
def test_excess_noise_of_a_wrong_bridge_is_found_out(
    case: Case, variant: Callable[[Mechanism], Mechanism], *, large: bool
) -> None:
    path = _raised_path(case, variant(case.mechanism), variant.__name__, large=large)
    assert rejects(_independence(case, path, case.levels[1]))


@every_size
@every_case
def test_ties_between_neighbors_have_their_exact_frequency(case: Case, *, large: bool) -> None:
    path = _raised_path(case, case.mechanism, "ties", large=large)
    for lower, upper in pairwise(case.levels):
        ties = int(np.count_nonzero(path[lower] == path[upper]))
        accept(
            frequency(ties, len(path[lower]), case.law(lower, upper).at(0)),
            f"{case.name} ties of {lower} and {upper}",
        )


def test_atoms_lost_to_plain_floats_are_found_out() -> None:
    scales = (1.0, 1.5, 2.0)
    stream = keyed_streams("lost atoms")()
    bridged, noisy = float_laplace_pair(0.1, scales, LARGE, stream)
    ties = int(np.count_nonzero(bridged == noisy))
    expected = (scales[1] / scales[2]) ** 2
    assert 0.9 * expected < ties / LARGE < 0.99 * expected
    assert rejects(frequency(ties, LARGE, expected))
