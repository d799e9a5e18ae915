"""Test the ways in which bridges of the integer families go wrong, each of them found out.

Every variant keeps what a casual look would check: supports, and most of the ties.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.cases import LAPLACE, POISSON, Case
from tests.statistical.checks import accept, cells_of, joint_chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import every_size

from penstock.mechanisms import IntVector, Laplace
from penstock.mechanisms.laplace.process import _bridge_rule
from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.binomial import binomial

LARGE = 1 << 20
SIZES = {"laplace": 1 << 16, "poisson": LARGE}
"""Laplace bridges without one of their ways need 17,000 values at most (measured over 2^16, by
``sample_sizes``).  A normal law in place of the binomial needs the large sample."""

OFF_SIZE = 1 << 18
"""A chance off by 1% needs 140,000."""

Bridge = Callable[[Fraction, Fraction, IntVector, Fraction, Stream], IntVector]


def _never_the_noisier_neighbor() -> Bridge:
    """Lose atoms: be equal to the noisier neighbor only by chance."""
    return _laplace_with(arrived=0)


def _never_the_accurate_neighbor() -> Bridge:
    """Lose atoms: be equal to the more accurate neighbor only by chance."""
    return _laplace_with(forward=CERTAIN)


def _never_apart() -> Bridge:
    """Keep neighbors that are equal as they are, though both parts may have moved, oppositely."""
    return _laplace_with(parted=0)


def _never_back() -> Bridge:
    """Never go beyond the accurate neighbor, on the side away from the noisier."""
    return _laplace_with(backward=0)


def _laplace_with(**changed: Any) -> Bridge:
    def bridge(
        accurate: Fraction, noisy: Fraction, difference: IntVector, level: Fraction, stream: Stream
    ) -> IntVector:
        mechanism = Laplace(Fraction(1))
        rates = [mechanism._rate(at) for at in (accurate, level, noisy)]
        rule = replace(_bridge_rule(*rates), **changed)
        out = np.zeros(len(difference), dtype=np.int64)
        rule.fill(difference, out, stream)
        return out

    return bridge


def _normal_binomial(
    accurate: Fraction, noisy: Fraction, difference: IntVector, level: Fraction, stream: Stream
) -> IntVector:
    """Draw a normal law with mean and variance of the binomial."""
    chance = float((level - accurate) / (noisy - accurate))
    spread = np.sqrt(difference * chance * (1 - chance))
    drawn = np.rint(
        chance * difference + spread * stream.generator.standard_normal(len(difference))
    )
    clipped: NDArray[np.int64] = np.clip(drawn, 0, difference).astype(np.int64)
    return clipped


def _other_chance(
    accurate: Fraction, noisy: Fraction, difference: IntVector, level: Fraction, stream: Stream
) -> IntVector:
    """Return a chance that is off by a hundredth of itself."""
    chance = (level - accurate) / (noisy - accurate)
    return binomial(difference, chance * Fraction(101, 100), stream)


TRIPLES = ((0, 2, 4), (1, 2, 3), (1, 3, 4))
"""Places among a case's levels; the first counts from no noise at all."""


def _p_value(
    case: Case, bridge: Bridge, triple: tuple[int, int, int], label: str, size: int
) -> float:
    levels = (Fraction(0), *case.levels)
    a, t, b = (levels[place] for place in triple)
    stream = keyed_streams(f"integer bridges/{label}/{case.name}/{triple}")()
    difference = case.mechanism.increment(a, b, size, stream)
    first = bridge(a, b, difference, t, stream)
    cells = [cells_of(case.law(a, t), 24), cells_of(case.law(t, b), 24)]
    return joint_chi_squared([first, difference - first], cells)


@every_size
@pytest.mark.parametrize("case", [LAPLACE, POISSON], ids=["laplace", "poisson"])
@pytest.mark.parametrize("triple", TRIPLES, ids=str)
def test_both_parts_of_a_bridge_are_independent_with_their_exact_laws(
    case: Case, triple: tuple[int, int, int], *, large: bool
) -> None:
    size = LARGE if large else SIZES[case.name]
    p_value = _p_value(case, case.mechanism.bridge, triple, "right", size)
    accept(p_value, f"{case.name} bridge of {triple}")


@pytest.mark.parametrize("triple", TRIPLES[1:], ids=str)
@pytest.mark.parametrize(
    "variant",
    [
        _never_the_noisier_neighbor,
        _never_the_accurate_neighbor,
        _never_apart,
        _never_back,
    ],
)
def test_laplace_bridges_without_one_of_their_ways_are_found_out(
    variant: Callable[[], Bridge], triple: tuple[int, int, int]
) -> None:
    size = SIZES["laplace"]
    assert rejects(_p_value(LAPLACE, variant(), triple, variant.__name__, size))


@pytest.mark.parametrize("triple", TRIPLES[:2], ids=str)
def test_a_normal_law_in_place_of_the_binomial_is_found_out(triple: tuple[int, int, int]) -> None:
    assert rejects(_p_value(POISSON, _normal_binomial, triple, "normal", LARGE))


@pytest.mark.parametrize("triple", TRIPLES, ids=str)
def test_a_binomial_chance_that_is_off_is_found_out(triple: tuple[int, int, int]) -> None:
    assert rejects(_p_value(POISSON, _other_chance, triple, "other chance", OFF_SIZE))
