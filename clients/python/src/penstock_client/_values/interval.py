"""Compute confidence intervals, also at confidences that the server did not state.

All intervals are per value: at confidence 0.95, about one exact value in twenty lies outside its
interval.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist

from penstock_client.errors import InvalidArgument
from penstock_client.models import ErrorBars

AS_STATED = "as stated by the server"
NORMAL = "normal law"
LAPLACE = "discrete Laplace law"
NEARLY_NORMAL = "normal approximation"

KNOWN = ("gaussian", "laplace", "poisson", "skellam")
"""The mechanisms whose law is known here."""

FINE = 1e-9
"""The granularity, in standard deviations, below which the lattice is ignored."""


@dataclass(frozen=True)
class Interval:
    """Hold a lower and an upper end for each value, in the order of the values.

    ``law`` states where ``half_width`` comes from: an exact law, the server, or an
    approximation.  Iterating yields (lower, upper) pairs.
    """

    confidence: float
    half_width: float
    law: str
    lower: tuple[float, ...] = field(repr=False)
    upper: tuple[float, ...] = field(repr=False)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(self.lower, self.upper, strict=True)

    def __len__(self) -> int:
        return len(self.lower)


def require_confidence(confidence: float) -> None:
    """Raise ``InvalidArgument`` for a confidence outside (0, 1)."""
    if not 0 < confidence < 1:
        raise InvalidArgument(f"A confidence is between 0 and 1, not {confidence:g}.")


def half_width(
    mechanism: str, granularity: float, error: ErrorBars, confidence: float
) -> tuple[float, str]:
    """Return half the width of one value's two-sided interval, and the law behind it.

    At the confidence that the server stated, it is the server's half width.  At others,
    Gaussian noise has normal quantiles, and Laplace noise those of its law on the lattice; for
    Poisson and Skellam noise, normal quantiles are an approximation (skewness and excess
    kurtosis fall as the variance grows).  Raises ``InvalidArgument`` for a confidence outside
    (0, 1), and for a mechanism whose law this version does not know.
    """
    require_confidence(confidence)
    if math.isclose(confidence, error.confidence, rel_tol=1e-12):
        return error.half_width, AS_STATED
    if mechanism in KNOWN:
        return quantile(mechanism, granularity, error.standard_deviation, confidence)
    raise InvalidArgument(
        f"This version does not know the law of {mechanism} noise, only the interval that the"
        f" server states; call interval({error.confidence:g})."
    )


def quantile(
    mechanism: str, granularity: float, standard_deviation: float, confidence: float
) -> tuple[float, str]:
    """Return half the width of the interval of one of the ``KNOWN`` noises, and the law."""
    if mechanism == "laplace":
        return _laplace(standard_deviation, granularity, confidence), LAPLACE
    law = NORMAL if mechanism == "gaussian" else NEARLY_NORMAL
    return _normal(standard_deviation, confidence), law


def _normal(standard_deviation: float, confidence: float) -> float:
    # The lower tail keeps its digits where the confidence is close to 1.
    return -NormalDist().inv_cdf((1 - confidence) / 2) * standard_deviation


def _laplace(standard_deviation: float, granularity: float, confidence: float) -> float:
    """Return the least bound that noise exceeds with probability at most 1 - confidence.

    The bound is a multiple of the granularity ``g``. On the lattice ``P(k) = (1-p)/(1+p) p^|k|``
    with ``p = exp(-g/b)``, hence ``P(|k| > m) = 2 p^(m+1) / (1+p)``, and the standard deviation is
    ``g / (sqrt(2) sinh(g/2b))``, from which ``b`` is taken.  Where ``g`` is small this is the
    continuous law's ``-b ln(1 - confidence)``.
    """
    if granularity < FINE * standard_deviation:
        return -math.log1p(-confidence) * standard_deviation / math.sqrt(2)
    step_of_log = 2 * math.asinh(granularity / (math.sqrt(2) * standard_deviation))
    steps = (math.log((1 - confidence) / 2) + math.log1p(math.exp(-step_of_log))) / -step_of_log
    return granularity * max(0, math.ceil(steps) - 1)
