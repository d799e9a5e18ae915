"""Compute epsilon at a delta of shifted Poisson noise: exactly, and in closed form.

For one coordinate the likelihood ratio of ``X + s`` to ``X`` increases, so the best test
is a threshold and the privacy curve a ratio of tail probabilities.  For several, their
privacy losses are added up on a grid whose masses are placed so that the curve can only
move up (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the dots").

Below its shift ``X + s`` has no mass: if ``X`` is there, the loss is infinite.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.loss_sums import (
    ROUGH_GRID,
    SAFETY,
    Losses,
    best_ratios,
    bounding_epsilon,
    epsilon_of_sum,
    largest_epsilon,
    largest_within,
)
from penstock.mechanisms.poisson.tails import OUTSIDE, Progression, below, reach, stride
from penstock.mechanisms.shifts import Shape
from penstock.randomness.saddle_point import Floats, log_poisson

_ATOMS = 1 << 14
"""The number of points that represent one value's losses."""

_ROUGH_ATOMS = 1 << 10


def epsilon_of_worst(mean: float, shapes: Sequence[Shape], delta: float) -> float:
    """Return the largest ``epsilon_of_shape`` of several shapes."""
    if len(shapes) == 1:
        return epsilon_of_shape(mean, shapes[0], delta)
    bounds = [_bound(mean, shape, delta) for shape in shapes]
    return largest_within(bounds, lambda place: epsilon_of_shape(mean, shapes[place], delta))


# Previews compute the same levels again whenever a user changes a field.
@lru_cache(maxsize=1024)
def epsilon_of_shape(mean: float, shape: Shape, delta: float) -> float:
    """Return the least epsilon at ``delta`` for noise shifted by ``shape``, in both directions.

    Two choices of signs for the shifts are tried, and assumed to be the worst: one sign for all,
    and one for the largest and the other for the rest, which reveals 0.2% more if ``delta`` is
    hardly above the probability of the support's end.  This is an engineering bound that the tests
    check against enumerations; the sign corresponds to the direction.  The result is infinite if
    the support's end alone exceeds ``delta``, and if the noise would hide almost nothing.
    """
    if max(shift for shift, _ in shape) > 2 * reach(mean):
        return math.inf
    if sum(count for _, count in shape) == 1:
        return max(_single(mean, shape[0][0], delta, up) for up in (True, False))
    return largest_epsilon(_sums(mean, shape), [count for _, count in shape], delta)


def rough_epsilon(mean: float, shape: Shape, delta: float) -> float:
    """Return about ``epsilon_of_shape``, for a first guess: on a coarse grid, for equal signs."""
    if sum(count for _, count in shape) == 1 or shape[0][0] > 2 * reach(mean):
        return epsilon_of_shape(mean, shape, delta)
    counts = [count for _, count in shape]
    ways = ([_losses(mean, shift, up, _ROUGH_ATOMS) for shift, _ in shape] for up in (True, False))
    return max(epsilon_of_sum(losses, counts, delta, ROUGH_GRID) for losses in ways)


def theorem_epsilon(
    mean: float, l1: float, l2: float, linf: float, dimension: int, delta: float
) -> float:
    """Return the closed form of Andersson, Retschmeier, Nelson, Pagh 2025, Theorem E.2.

    It is an upper bound, two to six times the exact epsilon; norms are in lattice steps. Raises
    ``InvalidInput`` for a ``delta`` outside of (0, 1), and if the theorem's condition ``mean >=
    max(23 ln(10 d/delta), 2 linf)`` fails.
    """
    _require_large(mean, linf, dimension, delta)
    tail = math.log(1.25 / delta)
    main = l2 * math.sqrt(2 * tail / mean)
    ten = math.log(10 / delta)
    cubic = (5 * math.sqrt(2) * l2 * math.sqrt(ten) + 5 / 3 * l1) / (mean * (1 - delta / 10))
    largest = 2 / 3 * linf * tail + 4 / 3 * linf * math.log(20 * dimension / delta) * ten
    return main + cubic + largest / mean


def simplified_epsilon(mean: float, dimension: int, delta: float) -> float:
    """Return a simpler bound than ``theorem_epsilon`` where all three norms are at most one step.

    It is ``sqrt(2 ln(1.25/delta) / mean) + 4 ln(10/delta) ln(20 d/delta) / mean``, of the kind of
    Andersson, Retschmeier, Nelson, Pagh 2025, Corollary E.3, with constants of its own.  It follows
    from Theorem E.2: with ``L = ln(10/delta)`` and ``M = ln(20 d/delta)``, what the theorem adds
    to ``4/3 L M`` is at most ``(5 sqrt(2 L) + 5/3) / 0.9 + 2/3 L``, which is below ``8/3 L M``
    since ``L >= ln 10`` and ``M >= ln 20``.  Raises ``InvalidInput`` as ``theorem_epsilon`` does.
    """
    _require_large(mean, 1, dimension, delta)
    ten, twenty = math.log(10 / delta), math.log(20 * dimension / delta)
    return math.sqrt(2 * math.log(1.25 / delta) / mean) + 4 * ten * twenty / mean


def _require_large(mean: float, linf: float, dimension: int, delta: float) -> None:
    """Raise ``InvalidInput`` unless Theorem E.2 holds for this much noise."""
    if not 0 < delta < 1:
        raise InvalidInput(f"The theorem needs a delta between 0 and 1, not {delta:g}.")
    least = max(23 * math.log(10 * dimension / delta), 2 * linf)
    if mean < least:
        raise InvalidInput(
            f"Theorem E.2 holds from a mean of max(23 ln(10 d/delta), 2 linf) = {least:.6g} on,"
            f" and this one is {mean:g}; take more noise, or the exact reading, which has no"
            " such condition."
        )


def _bound(mean: float, shape: Shape, delta: float) -> float:
    """Return what ``epsilon_of_shape`` is not above; infinite if that is as quick."""
    counts = [count for _, count in shape]
    if sum(counts) == 1 or max(shift for shift, _ in shape) > 2 * reach(mean):
        return math.inf
    return max(bounding_epsilon(losses, counts, delta) for losses in _sums(mean, shape))


def _sums(mean: float, shape: Shape) -> list[list[Losses]]:
    """Return the losses of each size of ``shape``, for each choice of their signs."""
    rest = len(shape) - 1
    ways = {(up, *[way] * rest) for up in (True, False) for way in (True, False)}
    return [
        [_losses(mean, shift, up) for (shift, _), up in zip(shape, way, strict=True)]
        for way in ways
    ]


def _single(mean: float, shift: int, delta: float, up: bool) -> float:
    """Return the largest ``ln((P(S) - delta) / Q(S))`` over thresholds ``S``.

    Upwards it compares ``P = X + s`` with ``Q = X`` on ``{y, y + 1, ...}``, and downwards ``X``
    with ``X + s`` on ``{..., y}``.
    """
    step = stride(mean)
    low = max(math.floor(mean) - reach(mean), 0)
    high = math.ceil(mean) + reach(mean) + shift
    plain = Progression.between(mean, low, high, step)
    moved = Progression.between(mean, low - shift, high - shift, step)
    unlikely, likely = (plain, moved) if up else (moved, plain)
    small, large = (part.at_least() if up else part.at_most() for part in (unlikely, likely))
    bounds = best_ratios(large, small, delta)
    if step > 1 and bounds.max() > -math.inf:
        # The points represent runs of integers: try all of those around the best.
        best = min(max(int(np.argmax(bounds)), 1), len(bounds) - 2)
        small, large = _run(unlikely, small, best, up), _run(likely, large, best, up)
        bounds = best_ratios(large, small, delta)
    return max(float(bounds.max()), 0.0) + SAFETY


def _run(part: Progression, tails: Floats, best: int, up: bool) -> Floats:
    """Return the tails at every integer from the point before ``best`` to the one after it."""
    first, last = (int(part.values[place]) for place in (best - 1, best + 1))
    if up:
        run = Progression.between(part.mean, first, last - 1, 1)
        return run.at_least(beyond=float(tails[best + 1]))
    run = Progression.between(part.mean, first + 1, last, 1)
    return run.at_most(beyond=float(tails[best - 1]))


# Shapes share their sizes.
@lru_cache(maxsize=32)
def _losses(mean: float, shift: int, up: bool, atoms: int = _ATOMS) -> Losses:
    low, high = max(math.floor(mean) - reach(mean), 0), math.ceil(mean) + reach(mean)
    step = max(1, (high - low) // atoms)
    x = np.arange(low if up else max(low, shift), high + 1, step, dtype=np.float64)
    other = x + shift if up else x - shift
    own = log_poisson(x, mean, x - mean)
    ratio = own - log_poisson(other, mean, other - mean)
    lost = min(2 * OUTSIDE + (0.0 if up else below(mean, shift)), 1 - 1e-16)
    mass = np.exp(own)
    # If atoms represent several integers, their sum is 1 up to the trapezoid's error.
    return Losses(ratio, mass * ((1 - lost) / mass.sum()), lost)
