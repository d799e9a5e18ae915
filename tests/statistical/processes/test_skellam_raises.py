"""Test raising a Skellam ceiling: the parts of the anchor's own noise, drawn again given their sum.

Every variant leaves the values that were released as they are.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, cast

import numpy as np
import pytest
from tests.statistical.broken import altered
from tests.statistical.cases import SKELLAM
from tests.statistical.checks import Pmf, accept, cells_of, chi_squared, joint_chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams, zeros
from tests.statistical.sample_sizes import enough, every_size, masses_over

from penstock.mechanisms import (
    IntVector,
    Mechanism,
    Skellam,
    draw_anchor,
    place,
    raise_anchor,
    released,
)
from penstock.randomness import Stream
from penstock.randomness.bessel.functions import bessel
from penstock.randomness.binomial import binomial

SIZE, LARGE = 1 << 18, 1 << 20
"""The mean number of jumps needs 150,000 values over 8 x 8 x 8 cells, the law for noise of 0
130,000 (measured over 2^16, by ``sample_sizes``)."""

Resolve = Callable[[IntVector, Fraction, Stream], IntVector]


def _no_other_jumps(noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
    """Return ``A = v``, ``B = 0``: as if noise that is 0 had never moved."""
    return np.maximum(noise, 0)


def _as_expected(noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
    """Return the mean number of jumps, whatever the noise."""
    return np.maximum(noise, 0) + int(level / 2)


def _blind_to_the_sum(noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
    """Return the law for noise of 0, at every noise."""
    return np.maximum(noise, 0) + bessel(np.zeros_like(noise), level, stream)


class _Resolving(Skellam):
    rule: ClassVar[Resolve]

    def resolve(self, noise: IntVector, level: Fraction, stream: Stream) -> IntVector:
        return np.concatenate((noise, type(self).rule(noise, level, stream)))


def _with(rule: Resolve) -> Mechanism:
    kind = type(rule.__name__, (_Resolving,), {"rule": staticmethod(rule)})
    return cast(Mechanism, kind(Fraction(1)))


def _of_the_sum(
    own: Mechanism,
    accurate: Fraction,
    noisy: Fraction,
    difference: IntVector,
    level: Fraction,
    stream: Stream,
) -> IntVector:
    """Split only the sum: binomially, in its own direction."""
    chance = (level - accurate) / (noisy - accurate)
    net, up = np.split(difference, 2)
    ahead = np.sign(net) * binomial(np.abs(net), chance, stream)
    return np.concatenate((ahead, np.minimum(up, np.maximum(ahead, 0))))


def _raised(mechanism: Mechanism, label: str, size: int = SIZE) -> float:
    """Return the joint table of three increments, the first two from raising the anchor."""
    low, middle, high = (SKELLAM.levels[index] for index in (0, 2, 4))
    streams = keyed_streams(f"skellam raises/{label}")
    exact = zeros(size)
    anchor = draw_anchor(mechanism, exact, high, streams())
    raised = raise_anchor(mechanism, exact, (high, anchor), low, streams())
    between = place(mechanism, (low, raised), (high, anchor), middle, streams())
    noise = [released(mechanism, kept) for kept in (raised, between, anchor)]
    parts = [noise[0], noise[1] - noise[0], noise[2] - noise[1]]
    ends = (Fraction(0), low, middle, high)
    laws = [SKELLAM.law(a, b) for a, b in pairwise(ends)]
    return joint_chi_squared(parts, [cells_of(law, 8) for law in laws])


@every_size
def test_a_raised_path_has_independent_increments_with_their_exact_laws(*, large: bool) -> None:
    p_value = _raised(SKELLAM.mechanism, "right", LARGE if large else SIZE)
    accept(p_value, "Skellam raised twice")


@pytest.mark.parametrize("rule", [_no_other_jumps, _as_expected, _blind_to_the_sum])
def test_parts_that_do_not_have_their_law_are_found_out(rule: Resolve) -> None:
    assert rejects(_raised(_with(rule), rule.__name__))


def test_splitting_the_sum_alone_is_found_out() -> None:
    assert rejects(_raised(altered(Skellam(Fraction(1)), bridge=_of_the_sum), "sum alone"))


@every_size
@pytest.mark.parametrize(("order", "argument"), [(0, 12), (9, 12), (0, 400), (60, 400)])
def test_bessel_draws_have_their_law(order: int, argument: int, *, large: bool) -> None:
    law, wrong = _bessel(order, argument), _bessel(order, argument * 1.015)
    other = cells_of(wrong, 64)
    size = LARGE if large else enough(other.masses, masses_over(other, law), LARGE)
    stream = keyed_streams(f"bessel/{order}/{argument}")()
    drawn = bessel(np.full(size, order), Fraction(argument), stream)
    cells = cells_of(law, 64)
    observed = np.bincount(cells.of(drawn), minlength=len(cells.masses))
    accept(chi_squared(observed, cells.masses * size), f"Bessel {order}, {argument}")
    again = np.bincount(other.of(drawn), minlength=len(other.masses))
    assert rejects(chi_squared(again, other.masses * size))


def _bessel(order: int, argument: float) -> Pmf:
    ratios = [(argument / 2) ** 2 / (n * (n + order)) for n in range(1, argument.__ceil__() + 60)]
    masses = np.cumprod([1.0, *ratios])
    return Pmf(0, masses / masses.sum())
