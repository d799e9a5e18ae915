"""Compute the tight epsilon of a set of releases, at the dataset's delta.

The rule of this module: the figure is read off privacy-loss distributions, never off
the filter's one order, and is never below the truth.  It holds for the ideal laws; what
samplers add is in the ledger's failure probability, which callers subtract from ``delta``.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from penstock.accounting.charging.budget import ORDERS, converted_epsilon
from penstock.accounting.charging.charges import PURE_MECHANISMS
from penstock.accounting.guarantees import guarantee_at
from penstock.accounting.reporting.coordinates import (
    WORST,
    GaussianLoss,
    PlacedRelease,
    Shape,
    summed,
)
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import epsilon_at
from penstock.mechanisms.process import Mechanism
from penstock.privacy.guarantee import Guarantee
from penstock.privacy.sensitivity import Sensitivity

RESOLUTION: Final = 2**15
"""Cells of the grid up to the loss that is expected at delta."""

SMALLEST_DELTA: Final = 1e-11
"""The delta below which the rounding of single tables would show; simple sums are given there."""

_TABLE_ROUNDING: Final = 1e-14
"""An engineering bound on how far the rounding of single tables moves a delta, over all of them.

The rounding of their sums is bounded and added where it arises (``convolution``).
"""

_OF_NO_FAILURE: Final = frozenset({"gaussian", "generalized_gaussian", "laplace"})
"""The mechanisms whose ideal law has the divergences that they are charged, without failures."""

_CUT: Final = 2.0**-20
"""The part of delta that may be cut off, over all tables and sums."""


def composed_epsilon(
    releases: Sequence[PlacedRelease] | Counter[PlacedRelease], delta: float
) -> float:
    """Return the epsilon at ``delta`` of all ``releases`` together, each drawn independently.

    It is 0 for no releases, and ``inf`` if no epsilon is enough. It is never below the truth, and,
    if all releases are pure, never above the sum of their epsilons, which it equals at ``delta`` 0.
    Raises ``InvalidInput`` for an unknown mechanism and for a delta outside [0, 1).
    """
    if not 0 <= delta < 1:
        raise InvalidInput(f"A delta is at least 0 and below 1, not {delta}.", pointer="/delta")
    counted = Counter(releases)
    gaussian, others = _parted(counted)
    if delta < SMALLEST_DELTA or not others:
        return _simple_sum(gaussian, others, delta)
    shape: Shape = Counter()
    if gaussian:
        shape[GaussianLoss(_total_mu(gaussian))] += 1
    for release, copies in others.items():
        for coordinate, times in WORST[release.law.name](release).items():
            shape[coordinate] += times * copies
    simple = _simple_sum(gaussian, others, delta) if _is_tight(gaussian, others) else math.inf
    tables = _by_tables(shape, delta, _inflation(gaussian))
    return min(tables, simple, _by_orders(counted, delta))


Counted = Counter[PlacedRelease]


def _parted(counted: Counted) -> tuple[Counted, Counted]:
    gaussian = Counter({r: n for r, n in counted.items() if r.law.name == "gaussian"})
    return gaussian, counted - gaussian


def _by_tables(shape: Shape, delta: float, inflation: float) -> float:
    if not shape:
        return 0.0
    mean = math.fsum(times * coordinate.mean for coordinate, times in shape.items())
    variance = math.fsum(times * coordinate.deviation**2 for coordinate, times in shape.items())
    width = (mean + math.sqrt(2 * variance * math.log(1 / delta))) / RESOLUTION
    tail = delta * _CUT / (3 * len(shape))
    return summed(shape, width, tail).table().epsilon(delta / inflation - _TABLE_ROUNDING)


def _by_orders(counted: Counted, delta: float) -> float:
    """Return the epsilon by Rényi divergences, which use the l2 of a Laplace vector too.

    Tables of Laplace losses leave it out.
    """
    says_more = any(
        release.law.name == "laplace"
        and release.sensitivity.l2_squared < release.sensitivity.l1 * release.sensitivity.linf
        for release in counted
    )
    if not says_more or any(r.law.name not in _OF_NO_FAILURE for r in counted):
        return math.inf
    return min(
        converted_epsilon(
            order,
            math.fsum(
                n * r.law.cost(r.level, r.sensitivity, order).loss for r, n in counted.items()
            ),
            delta,
        )
        for order in ORDERS[::16]
    )


def _total_mu(gaussian: Counted) -> float:
    """Return the mu of all Gaussian releases as one, of the squares' sum (Dong, Roth, Su 2022)."""
    return math.sqrt(
        math.fsum(
            copies * float(release.sensitivity.l2_squared / release.level)
            for release, copies in gaussian.items()
        )
    )


def _inflation(gaussian: Counted) -> float:
    """Return how much larger delta may be on the lattice than for real Gaussian noise.

    ``1 + 4 (g/sigma)^2`` for each release: an engineering bound.
    """
    return math.exp(
        math.fsum(
            copies * math.log1p(4 * float(release.granularity**2 / release.level))
            for release, copies in gaussian.items()
        )
    )


def _is_tight(gaussian: Counted, others: Counted) -> bool:
    """Return True if the plain sum may be the least: one release alone, or pure ones only."""
    return _is_alone(gaussian, others) or not (
        gaussian or any(r.law.name not in PURE_MECHANISMS for r in others)
    )


def _is_alone(gaussian: Counted, others: Counted) -> bool:
    return not gaussian and others.total() == 1


def _own_guarantee(
    law: Mechanism, level: Fraction, sensitivity: Sensitivity, delta: float
) -> Guarantee:
    return law.guarantee(level, sensitivity, delta)


def _simple_sum(gaussian: Counted, others: Counted, delta: float) -> float:
    """Return the sum of the pure losses and of the rest, each read at an even part of delta."""
    impure = [n for release, n in others.items() if release.law.name not in PURE_MECHANISMS]
    shares = sum(impure) + bool(gaussian)
    if shares and delta == 0:
        return math.inf
    each = delta / max(shares, 1)
    parts = [epsilon_at(each / _inflation(gaussian), _total_mu(gaussian))] if gaussian else []
    # Alone a release has all of delta; several Laplace ones have none of it, and are pure.
    read = guarantee_at if _is_alone(gaussian, others) else _own_guarantee
    for release, copies in others.items():
        promise = read(release.law, release.level, release.sensitivity, each)
        parts.append(copies * promise.epsilon)
    return math.fsum(parts)
