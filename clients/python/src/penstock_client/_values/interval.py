"""Intervals at other confidences than the one that the server stated.

All are per value: at confidence 0.95 about one value in twenty is outside of its own.
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

FINE = 1e-9
"""Granularity in standard deviations below which the lattice does not show."""


@dataclass(frozen=True)
class Interval:
    """Lower and upper ends, one of each for every value, in the order of the values.

    ``law`` says where ``half_width`` comes from: an exact law, the server, or an
    approximation.  Iterating gives (lower, upper) pairs.
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


def half_width(
    mechanism: str, granularity: float, error: ErrorBars, confidence: float
) -> tuple[float, str]:
    """Half the width of one value's two-sided interval, and the law that it follows.

    At the confidence that the server stated it is the server's.  Elsewhere Gaussian noise
    has normal quantiles, Laplace noise those of its law on the lattice; for Poisson and
    Skellam noise normal quantiles are an approximation (their skewness and excess
    kurtosis fall with the variance).  Raises ``InvalidArgument`` for a confidence outside
    of (0, 1), and for a mechanism whose law is not known here.
    """
    if not 0 < confidence < 1:
        raise InvalidArgument(f"A confidence is between 0 and 1, and {confidence:g} is not.")
    if math.isclose(confidence, error.confidence, rel_tol=1e-12):
        return error.half_width, AS_STATED
    if mechanism == "gaussian":
        return _normal(error.standard_deviation, confidence), NORMAL
    if mechanism == "laplace":
        return _laplace(error.standard_deviation, granularity, confidence), LAPLACE
    if mechanism in ("poisson", "skellam"):
        return _normal(error.standard_deviation, confidence), NEARLY_NORMAL
    raise InvalidArgument(
        f"This version does not know the law of {mechanism} noise, only what the server states:"
        f" ask for interval({error.confidence:g})."
    )


def _normal(standard_deviation: float, confidence: float) -> float:
    # The lower tail keeps its digits where the confidence is close to 1.
    return -NormalDist().inv_cdf((1 - confidence) / 2) * standard_deviation


def _laplace(standard_deviation: float, granularity: float, confidence: float) -> float:
    """The least multiple of the granularity that noise exceeds with at most 1 - confidence.

    On the lattice ``P(k) = (1-p)/(1+p) p^|k|`` with ``p = exp(-g/b)``, hence
    ``P(|k| > m) = 2 p^(m+1) / (1+p)``, and the standard deviation is
    ``g / (sqrt(2) sinh(g/2b))``, from which ``b`` is taken.  Where ``g`` is small this is
    the continuous law's ``-b ln(1 - confidence)``.
    """
    if granularity < FINE * standard_deviation:
        return -math.log1p(-confidence) * standard_deviation / math.sqrt(2)
    step_of_log = 2 * math.asinh(granularity / (math.sqrt(2) * standard_deviation))
    wanted = (math.log((1 - confidence) / 2) + math.log1p(math.exp(-step_of_log))) / -step_of_log
    return granularity * max(0, math.ceil(wanted) - 1)
