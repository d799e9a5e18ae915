"""Each release alone follows the exact law of its level."""

from fractions import Fraction

import numpy as np
from tests.statistical.broken import uniform_bridge, wrong_level
from tests.statistical.cases import Case, every_case
from tests.statistical.checks import accept, cells_of, chi_squared, rejects
from tests.statistical.paths import Path, keyed_streams, lossless, zeros

from penstock.mechanisms import Mechanism

SIZE = 1 << 20


def _path(case: Case, mechanism: Mechanism, label: str) -> Path:
    order = [case.levels[place] for place in (1, 5, 3, 0, 2, 4)]
    return lossless(mechanism, zeros(SIZE), order, keyed_streams(f"marginal/{label}/{case.name}"))


def _fits(case: Case, path: Path, level: Fraction) -> float:
    cells = cells_of(case.law(Fraction(0), level), 64)
    observed = np.bincount(cells.of(path[level]), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * SIZE)


@every_case
def test_every_level_alone_has_its_exact_law(case: Case) -> None:
    path = _path(case, case.mechanism, "right")
    for level in case.levels:
        accept(_fits(case, path, level), f"{case.name} at {level}")


@every_case
def test_three_percent_too_much_noise_is_found_out(case: Case) -> None:
    path = _path(case, wrong_level(case.mechanism), "wrong level")
    assert rejects(_fits(case, path, case.levels[1]))


@every_case
def test_a_bridge_with_the_right_variance_and_the_wrong_law_is_found_out(case: Case) -> None:
    path = _path(case, uniform_bridge(case.mechanism), "wrong bridge")
    assert rejects(_fits(case, path, case.levels[0]))
