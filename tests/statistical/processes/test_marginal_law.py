"""Test that each release alone follows the exact law of its level."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from tests.statistical.broken import uniform_bridge, wrong_level
from tests.statistical.cases import Case, every_case
from tests.statistical.checks import Cells, accept, cells_of, chi_squared, rejects
from tests.statistical.processes.paths import Path, keyed_streams, lossless, zeros
from tests.statistical.sample_sizes import enough, every_size, masses_over

from penstock.mechanisms import Mechanism

LARGE = 1 << 20
EARLY = (1, 0)
"""Places of the levels that a bridge is drawn between."""


def _cells(case: Case, level: Fraction) -> Cells:
    return cells_of(case.law(Fraction(0), level), 64)


@cache
def _size(case: Case) -> int:
    """Return so many values that 3% too much noise is found out all but certainly.

    The wrong bridge needs at most 55,000, which was measured over ``LEAST``.
    """
    level = case.levels[1]
    cells, wrong = _cells(case, level), case.law(Fraction(0), level * Fraction(33, 32))
    return enough(cells.masses, masses_over(cells, wrong), LARGE)


def _path(
    case: Case, mechanism: Mechanism, label: str, places: Sequence[int], *, large: bool
) -> Path:
    order = [case.levels[place] for place in places]
    exact = zeros(LARGE if large else _size(case))
    return lossless(mechanism, exact, order, keyed_streams(f"marginal/{label}/{case.name}"))


def _fits(case: Case, path: Path, level: Fraction) -> float:
    cells = _cells(case, level)
    observed = np.bincount(cells.of(path[level]), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * len(path[level]))


@every_size
@every_case
def test_every_level_alone_has_its_exact_law(case: Case, *, large: bool) -> None:
    path = _path(case, case.mechanism, "right", (1, 5, 3, 0, 2, 4), large=large)
    for level in case.levels:
        accept(_fits(case, path, level), f"{case.name} at {level}")


@every_size
@every_case
def test_three_percent_too_much_noise_is_found_out(case: Case, *, large: bool) -> None:
    path = _path(case, wrong_level(case.mechanism), "wrong level", EARLY[:1], large=large)
    assert rejects(_fits(case, path, case.levels[1]))


@every_size
@every_case
def test_a_bridge_with_the_right_variance_and_the_wrong_law_is_found_out(
    case: Case, *, large: bool
) -> None:
    path = _path(case, uniform_bridge(case.mechanism), "wrong bridge", EARLY, large=large)
    assert rejects(_fits(case, path, case.levels[0]))
