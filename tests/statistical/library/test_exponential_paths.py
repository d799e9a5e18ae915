"""Test that exponential noise, drawn in any order, has the joint law of the static construction."""

from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.broken import one_sided_bridge, uniform_bridge, wrong_level
from tests.statistical.checks import (
    Pmf,
    accept,
    cells_of,
    chi_squared,
    joint_chi_squared,
    rejects,
    uncorrelated,
)
from tests.statistical.processes.paths import Path, increments_of, keyed_streams, lossless, zeros
from tests.statistical.sample_sizes import enough, masses_over

from penstock.mechanisms import Exponential, Mechanism

SIZE = 1 << 15
"""A bridge that forgets a neighbor needs 2^11 values, and the uniform one 2^10 (measured)."""

MECHANISM = Exponential(Fraction(1))
LEVELS = tuple(Fraction(3, 2) * factor for factor in (1, 2, 3, 5, 8, 16))
ORDERS = ((0, 5, 3, 1, 4, 2), (3, 1, 5, 2, 0, 4))
"""The second one raises the ceiling."""


def geometric(accurate: Fraction, noisy: Fraction) -> Pmf:
    """Return the law of an increment: 0 in addition to a fraction of ``q^k``, normalized."""
    q = float(np.exp(-1 / float(noisy)))
    p = float(np.exp(-1 / float(accurate))) if accurate else 0.0
    stays = p * (1 - q) / (q * (1 - p))
    masses = (1 - stays) * (1 - q) * q ** np.arange(int(40 * noisy), dtype=np.float64)
    masses[0] += stays
    return Pmf(0, masses)


def _path(mechanism: Mechanism, order: tuple[int, ...], label: str, size: int = SIZE) -> Path:
    levels = [LEVELS[place] for place in order]
    streams = keyed_streams(f"exponential/{label}/{order}")
    return lossless(mechanism, zeros(size), levels, streams)


def _joint(path: Path) -> tuple[float, float]:
    parts = increments_of(path, zeros(SIZE))
    laws = [geometric(a, b) for a, b in zip((Fraction(0), *LEVELS), LEVELS, strict=False)]
    return joint_chi_squared(parts, [cells_of(law, 3) for law in laws]), uncorrelated(parts)


def _marginal(path: Path, level: Fraction) -> float:
    cells = cells_of(geometric(Fraction(0), level), 64)
    observed = np.bincount(cells.of(path[level]), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * len(path[level]))


@pytest.mark.parametrize("order", ORDERS, ids=["bridges", "raises"])
def test_releases_in_any_order_have_the_joint_law_and_each_its_own(order: tuple[int, ...]) -> None:
    path = _path(MECHANISM, order, "right")
    table, correlations = _joint(path)
    accept(table, f"exponential joint law, order {order}")
    accept(correlations, f"exponential correlations, order {order}")
    for level in LEVELS:
        accept(_marginal(path, level), f"exponential at {level}")


def test_wrong_bridges_are_found_out() -> None:
    order = ORDERS[0]
    forgetful = _joint(_path(one_sided_bridge(MECHANISM), order, "one-sided"))
    assert all(rejects(p) for p in forgetful)
    uniform, _ = _joint(_path(uniform_bridge(MECHANISM), order, "uniform"))
    assert rejects(uniform)


def test_three_percent_too_much_noise_is_found_out() -> None:
    cells = cells_of(geometric(Fraction(0), LEVELS[5]), 64)
    wrong = geometric(Fraction(0), LEVELS[5] * Fraction(33, 32))
    size = enough(cells.masses, masses_over(cells, wrong), 1 << 20)
    accept(_marginal(_path(MECHANISM, (5,), "right level", size), LEVELS[5]), "exponential, alone")
    noisy = _path(wrong_level(MECHANISM), (5,), "wrong level", size)
    assert rejects(_marginal(noisy, LEVELS[5]))
