"""Charge a histogram's sampler, beyond the Gaussian mechanism itself.

These are engineering bounds.  With ``d`` keys, ``p`` the chance that a key of count 0 is
reported at a level (at most its chance at this level alone, since silence at others makes it
less likely: the noises of one key are positively associated), and ``E`` the epsilon of the
budget:

    delta0 = (1 + e^E) * sum over levels of (d p e + p)

``e`` is the relative error of ``p``, and the total variation between the law from which the
noise of a joining key is drawn and the exact one; ``d p`` keys join on average, of which
``d p e`` are counted or drawn wrongly.  The last ``p`` is the distance of a Poisson law from
the binomial one (Barbour, Hall 1984), and is charged if the number of keys requires it.  A law
within total variation ``tau`` of an ``(epsilon, delta)``-private one is ``(epsilon, delta + (1 +
e^epsilon) tau)``-private.

Keys with the same count in two neighboring datasets are drawn in the same way for both, so of the
support's draws only those of keys that one unit may change are charged.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.process import NumericalCharge
from penstock.privacy.level import Ladder
from penstock.randomness import rejection
from penstock.structures.sparse_histogram.histogram import POISSON_FROM
from penstock.structures.sparse_histogram.threshold import Thresholds

RELATIVE_ERROR = 2.0**-31
"""``e`` at rung 0 beside adjacent rungs.

It covers 1e-12 for quadrature, and 4e-10 for sums that are taken for integrals.
"""

CEILING_ERROR = 2.0**-37
"""``e`` from the rung of the planned ceiling on.

The difference of sums and integrals falls with the variance, which is 64 times that of rung
0: to 6.25e-12.
"""

FINE_STEPS = 2**36
"""The least variance of rung 0, in squared steps, at which both of the above hold.

Below it, sums and integrals differ by more, in inverse proportion to the variance (the trapezoidal
rule's error is of second order in the step).
"""

LARGEST_EXPONENT = 700.0
"""The largest argument of ``exp`` used here.

Beyond it ``exp`` overflows, and any failure multiplied by it is above 1 already.
"""


def ceiling_error(ladder: Ladder) -> float:
    """Return ``e`` from the planned ceiling on, for a ladder that counts squared lattice steps."""
    return CEILING_ERROR * max(1.0, FINE_STEPS / ladder.finest)


def zero_key_failure(thresholds: Thresholds, level_count: int, epsilon: float) -> float:
    """Return ``delta0`` of the keys of count 0, over up to ``level_count`` levels.

    Each level is charged like that of the tier that expects the most false keys.
    """
    expected = max(thresholds.false_keys.values())
    error = RELATIVE_ERROR * max(1.0, FINE_STEPS / thresholds.ladder.finest)
    return false_key_failure(expected, thresholds.size, level_count, epsilon, error)


def false_key_failure(
    expected: float, size: int, level_count: int, epsilon: float, error: float
) -> float:
    """Return ``delta0`` of ``size`` keys of count 0, given the mean number of reported ones.

    ``expected`` is that mean, and ``error`` is ``e``.
    """
    count = expected / size if size >= POISSON_FROM else 0.0
    count += rejection.RELATIVE_ERROR
    inflation = 1 + math.exp(epsilon) if epsilon < LARGEST_EXPONENT else math.inf
    return inflation * level_count * (expected * error + count)


def numerical_charges(
    mechanism: Gaussian,
    thresholds: Thresholds,
    keys_changed: int,
    level_count: int,
    order: float,
    epsilon: float,
) -> Sequence[NumericalCharge]:
    """Return the ways to charge all draws of a histogram of up to ``level_count`` levels.

    ``keys_changed`` is how many keys differ between neighbors: as many as a unit contributes
    to, or twice that under replacement.  ``order`` and ``epsilon`` are those of the account.
    """
    own = zero_key_failure(thresholds, level_count, epsilon)
    ways = mechanism.numerical_charges(thresholds.ladder, keys_changed, level_count, order, epsilon)
    return tuple(replace(way, failure=way.failure + own) for way in ways)
