"""Compute the lattice of a query, the values on it, and the last rung of its ladder.

Exact values and noise are integers in steps of a public power of two, so that sums are
exact, their sensitivity does not depend on rounding, and "equal" means the same bits.
"""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from penstock.errors import InvalidInput
from penstock.privacy.level import Ladder

LARGEST_STEPS = 1 << 52
"""Exact values plus 40 standard deviations of noise stay within this many steps."""

DEVIATIONS = 40
"""At up to 14 standard deviations a draw, 4,096 chained draws still fit 63 bits."""


def rounded_up(value: Fraction) -> float:
    """Return the least float at or above ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def floor_log2(value: Fraction) -> int:
    """Return the largest ``k`` with ``2^k <= value``, for a positive ``value``."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def finest_common_power(step: Fraction) -> Fraction:
    """Return the largest power of two of which ``step`` is a multiple.

    Raises ``InvalidInput`` if no power of two divides it, as for a third.
    """
    if step <= 0 or step.denominator & (step.denominator - 1):
        raise InvalidInput(
            f"A step of {step} lies on no lattice of powers of two; take a positive multiple"
            " of some 2^-k, for instance 1/64 in place of 1/100.",
            pointer="/step",
        )
    return Fraction(step.numerator & -step.numerator, step.denominator)


def check_granularity(granularity: Fraction) -> None:
    """Raise ``InvalidInput`` unless ``granularity`` is a positive power of two."""
    if granularity <= 0 or finest_common_power(granularity) != granularity:
        raise InvalidInput(f"A granularity is a positive power of two, not {granularity}.")


def check_increasing(*levels: Fraction) -> None:
    """Raise ``InvalidInput`` unless the levels increase strictly, from at least 0."""
    if levels[0] < 0 or any(low >= high for low, high in pairwise(levels)):
        raise InvalidInput(
            "Levels must increase from at least 0, these do not: "
            + ", ".join(f"{float(level):g}" for level in levels)
        )


def check_plan(parameter: str, ceiling: Fraction, bound: Fraction) -> None:
    """Raise ``InvalidInput`` for a level or a bound of values that no lattice fits."""
    if ceiling <= 0 or bound < 0:
        raise InvalidInput(
            f"A {parameter} is above 0 and a bound at least 0, not {float(ceiling):g} and"
            f" {float(bound):g}."
        )


def halfway_points(reach: float, granularity: Fraction) -> NDArray[np.float64]:
    """Return values halfway between lattice points, rising from ``-reach`` or less to its opposite.

    There are at most some 2^12 of them, evenly spaced.
    """
    steps = math.ceil(reach / float(granularity)) + 1
    stride = math.ceil(steps / (1 << 11))
    count = math.ceil(steps / stride)
    points = np.arange(-count, count + 1, dtype=np.float64) * stride + 0.5
    return points * float(granularity)


def check_confidence(confidence: float) -> None:
    """Raise ``InvalidInput`` unless ``confidence`` is between 0 and 1."""
    if not 0 < confidence < 1:
        raise InvalidInput(f"A confidence is between 0 and 1, not {confidence:g}.")


def reaching_ladder(finest: int, unit: Fraction, noisiest: Fraction) -> Ladder:
    """Return the ladder from ``finest * unit`` to the last rung at or below ``noisiest``.

    Raises ``InvalidInput`` if not even rung 0 is.
    """
    if noisiest < finest * unit:
        raise InvalidInput(
            f"No level fits: the most accurate is {float(finest * unit):g}, the range of"
            f" the integers allows up to {float(noisiest):g}; choose a coarser step."
        )
    ratio = Ladder(finest, unit, 0).ratio
    last = math.floor(math.log(noisiest / (finest * unit)) / math.log(ratio)) + 1
    trial = Ladder(finest, unit, last)
    while trial.value(last) > noisiest:
        last -= 1
    return Ladder(finest, unit, last)


def lattice_steps(values: ArrayLike, granularity: Fraction) -> NDArray[np.int64]:
    """Return ``values`` in steps of ``granularity``: a new array of shape ``(size,)``.

    Integers and floats on the lattice are accepted.  Raises ``InvalidInput``, which names neither a
    value nor its place, for values that are not on it, not finite, or beyond 2^52 steps, and for a
    shape that is not that of a vector.
    """
    given = np.asarray(values)
    if given.ndim != 1 or not given.size:
        raise InvalidInput(f"A vector of at least one value is needed, not shape {given.shape}.")
    if given.dtype.kind not in "iuf" or given.dtype.itemsize > 8:
        raise InvalidInput(f"A vector of integers or floats is needed, not of {given.dtype}.")
    check_granularity(granularity)
    exponent = floor_log2(granularity)
    steps = (_float_steps if given.dtype.kind == "f" else _integer_steps)(given, exponent)
    if steps is None:
        raise InvalidInput(
            f"The vector has values that are not finite multiples of {granularity} within"
            f" {float(LARGEST_STEPS * granularity):g}; clamp and round it beforehand, and"
            " count the rounding in its sensitivity."
        )
    return steps


def _float_steps(values: NDArray[Any], exponent: int) -> NDArray[np.int64] | None:
    """Return floats in steps; the exact scaling is checked for underflow by scaling back."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        steps = np.rint(np.ldexp(values.astype(np.float64), -exponent))
        if np.any(np.ldexp(steps, exponent) != values) or not np.all(
            np.abs(steps) <= LARGEST_STEPS
        ):
            return None
    return steps.astype(np.int64)


def _integer_steps(values: NDArray[Any], exponent: int) -> NDArray[np.int64] | None:
    """Return integers in steps, compared in their own type: 2^63 and above would wrap."""
    limit = LARGEST_STEPS << exponent if exponent >= 0 else LARGEST_STEPS >> -exponent
    if int(values.max()) > limit or int(values.min()) < -limit:
        return None
    steps: NDArray[np.int64] = values.astype(np.int64)
    if exponent <= 0:
        return steps << -exponent if limit else steps
    kept = steps >> min(exponent, 63)
    return None if np.any(steps != kept << min(exponent, 63)) else kept
