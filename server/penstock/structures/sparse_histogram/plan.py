"""Choose a histogram's lattice and ladder: finer noise and a coarser ladder than a query's.

Quadrature between adjacent rungs needs a deviation that is a part of the rungs' own, so
rungs are at least 1.01 apart.  Quadrature also takes a sum over the lattice for an
integral, so a deviation has 2^18 steps at rung 0 and 2^21 at the ceiling: the two then differ
by 4e-10 and 6.25e-12, relatively, for adjacent rungs.

If large counts leave no room for that many, a deviation has fewer, down to 2^14 at rung 0.  The two
then differ by more, in inverse proportion to its square, and ``charges.ceiling_error`` states by
how much.
"""

import math
from dataclasses import replace
from fractions import Fraction

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import ROOM_TO_RAISE, Gaussian
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    check_plan,
    finest_common_power,
    floor_log2,
)
from penstock.privacy.level import Ladder

DOUBLING = 69
"""Rungs until the variance doubles: adjacent ones are at least 1.01 apart."""

STEPS_A_DEVIATION = 18
"""Binary logarithm of the steps in one standard deviation at rung 0, if they fit."""

FEWEST_STEPS = 14
"""Binary logarithm of the same on the coarsest lattice allowed.

Adjacent rungs then leave a bridge of at least ``2^14 2^-3.4 > 2^8`` steps, which the noise's
own bounds require.
"""

ROOM_ABOVE = 1 << 20
"""How many times the ceiling's variance is left for noisier tiers, if that fits."""


def plan(ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Gaussian, Ladder]:
    """Return the noise and the levels of a histogram whose most accurate tier is at ``ceiling``.

    ``ceiling`` is a variance in squared units of counts, ``step`` divides all counts,
    ``bound`` is the largest count. The lattice is the finest lattice that leaves ``ROOM_ABOVE``, or
    else the finest that fits at all.  Raises ``InvalidInput`` if none fits 2^52 steps, with the
    ``largest_bound`` and the ``least_deviation`` that would fit.
    """
    check_plan("variance", ceiling, bound)
    finest = ceiling / ROOM_TO_RAISE
    lattices = [_lattice(finest, step, steps) for steps in _STEPS]
    roomy = (lattice for lattice in lattices if _noisiest(lattice, bound) >= ROOM_ABOVE * ceiling)
    fitting = (lattice for lattice in lattices if _noisiest(lattice, bound) >= ceiling)
    granularity = next(roomy, None) or next(fitting, None)
    if granularity is None:
        raise _too_large(ceiling, step, bound, lattices[-1])
    unit, noisiest = granularity * granularity, _noisiest(granularity, bound)
    reach = math.floor(DOUBLING * math.log2(noisiest / finest)) + 1
    ladder = Ladder(math.floor(finest / unit), unit, reach, DOUBLING)
    while ladder.value(ladder.last) > noisiest:
        ladder = replace(ladder, last=ladder.last - 1)
    return Gaussian(granularity), ladder


_STEPS = range(STEPS_A_DEVIATION, FEWEST_STEPS - 1, -1)


def _lattice(finest: Fraction, step: Fraction, steps: int) -> Fraction:
    """Return the granularity that gives a deviation ``2^steps`` steps at rung 0.

    ``finest`` is the variance of rung 0.
    """
    return min(Fraction(2) ** (floor_log2(finest) // 2 - steps), finest_common_power(step))


def _noisiest(granularity: Fraction, bound: Fraction) -> Fraction:
    """Return the largest variance whose noise fits beside counts up to ``bound``; 0 for none."""
    deviation = (LARGEST_STEPS * granularity - bound) / DEVIATIONS
    return deviation * deviation if deviation > 0 else Fraction(0)


def _too_large(
    ceiling: Fraction, step: Fraction, bound: Fraction, coarsest: Fraction
) -> InvalidInput:
    """Return the refusal of counts that fit no lattice, with what would fit."""
    message = f"Counts up to {float(bound):g} and noise of variance {float(ceiling):g} do not fit"
    reach = DEVIATIONS * (math.isqrt(math.ceil(ceiling)) + 1) * math.isqrt(ROOM_ABOVE)
    largest = max(math.floor(LARGEST_STEPS * coarsest) - reach, 0)
    deviation = _least_deviation(step, bound) if bound else None
    if deviation is not None and deviation**2 <= ceiling:
        deviation = None
    ways = [f"counts up to {largest}"] if largest else []
    if deviation is not None:
        ways.append(f"noise of a standard deviation from {float(deviation):g} on")
    return InvalidInput(
        f"{message} 2^52 steps of the coarsest lattice allowed, {coarsest}."
        + (f" What fits is {', or '.join(ways)}." if ways else " Take less noise."),
        largest_bound=largest,
        least_deviation=None if deviation is None else float(deviation),
    )


def _least_deviation(step: Fraction, bound: Fraction) -> Fraction | None:
    """Return the power of two from which on a standard deviation lets ``bound`` fit, or ``None``.

    On the coarsest lattice, a deviation of ``2^(17 + k)`` has steps of ``2^k``.
    """
    exponent = floor_log2(bound) - LARGEST_STEPS.bit_length() + 1
    for power in (exponent, exponent + 1, exponent + 2):
        deviation = Fraction(2) ** (power + FEWEST_STEPS) * math.isqrt(ROOM_TO_RAISE)
        lattice = _lattice(deviation**2 / ROOM_TO_RAISE, step, FEWEST_STEPS)
        if _noisiest(lattice, bound) >= ROOM_ABOVE * deviation**2:
            return deviation
    return None
