"""Lattice and ladder of a histogram: finer noise and a coarser ladder than those of a query.

Quadrature between adjacent rungs needs a deviation that is a part of the rungs' own, so
that they are at least 1.01 apart.  And what quadrature takes for an integral is a sum over
the lattice, so that a deviation has 2^18 steps at rung 0 and 2^21 at the ceiling: the two
then differ by 4e-10 and 6.25e-12, relatively, where rungs are adjacent.
"""

import math
from dataclasses import replace
from fractions import Fraction

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian
from penstock.mechanisms.gaussian import ROOM_TO_RAISE
from penstock.mechanisms.lattice import (
    DEVIATIONS,
    LARGEST_STEPS,
    check_plan,
    finest_common_power,
    floor_log2,
)
from penstock.privacy import Ladder

DOUBLING = 69
"""Rungs until the variance doubles: adjacent ones are at least 1.01 apart."""

STEPS_A_DEVIATION = 18
"""Binary logarithm of how many steps one standard deviation at rung 0 holds at least."""


def plan(ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Gaussian, Ladder]:
    """The noise and the levels of a histogram whose most accurate tier is at ``ceiling``.

    ``ceiling`` is a variance in squared units of counts, ``step`` divides all counts,
    ``bound`` is the largest count.  Raises ``InvalidInput`` where they do not fit 2^52 steps.
    """
    check_plan("variance", ceiling, bound)
    finest = ceiling / ROOM_TO_RAISE
    fine_enough = Fraction(2) ** (floor_log2(finest) // 2 - STEPS_A_DEVIATION)
    granularity = min(fine_enough, finest_common_power(step))
    unit = granularity * granularity
    deviation = (LARGEST_STEPS * granularity - bound) / DEVIATIONS
    noisiest = deviation * deviation
    if deviation <= 0 or noisiest < ceiling:
        raise InvalidInput(
            f"Counts up to {float(bound):g} and noise of variance {float(ceiling):g} do not"
            f" fit 2^52 steps of {granularity}; choose more noise or a smaller bound, which for"
            " computed counts is the dataset's max_units times the rows of a unit in a key."
        )
    reach = math.floor(DOUBLING * math.log2(noisiest / finest)) + 1
    ladder = Ladder(math.floor(finest / unit), unit, reach, DOUBLING)
    while ladder.value(ladder.last) > noisiest:
        ladder = replace(ladder, last=ladder.last - 1)
    return Gaussian(granularity), ladder
