"""Compute totals, differences, shares and ratios of released values, with their intervals.

A sum of values has the variance that their covariance gives.  Its interval is exact for Gaussian
noise; the law of sums of other noise lies between that of one value and the normal one, so that
the larger of both quantiles is taken, and half a step of the lattice is added.  A ratio has the
interval of Fieller (1954).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from penstock.errors import Conflict, InvalidInput
from penstock.services.noise.derived.covariance import Weights, covariance_of, deviations_of
from penstock.services.schemas.views import ReleaseView

AS_STATED = "The interval is that of the value itself."
EXACT = "The interval is exact for Gaussian noise."
CONSERVATIVE = (
    "The interval is conservative: it takes the larger of the quantiles of one value’s noise and of"
    " a normal law."
)
FIELLER = "By Fieller’s method. "
OPEN = " The denominator may be 0, so that the interval is all that is possible."


@dataclass(frozen=True)
class Derived:
    """Hold a derived quantity with the ends of its interval, infinite where nothing is known.

    ``law`` says in one line how exact the interval is.  The standard deviation is that of the
    noise; of a ratio it is that of its first-order expansion, infinite over 0.
    """

    value: float
    standard_deviation: float
    lower: float
    upper: float
    confidence: float
    law: str


def require_noise(release: ReleaseView) -> None:
    """Raise ``InvalidInput`` for a release whose values are not exact ones plus noise."""
    if release.mean is not None:
        raise InvalidInput(
            f"{release.query} has means, which are ratios of noisy values: nothing is computed from"
            " several of them. Ask for a query for sums and one for counts.",
            pointer="/quantity",
        )
    if release.histogram is not None:
        raise InvalidInput(
            f"{release.query} is a sparse histogram: its keys were chosen by their noisy counts, so"
            " that the noise of those that are listed is not centered, and nothing is computed from"
            " several of them.",
            pointer="/quantity",
        )
    _require_known_law(release)


def _require_known_law(release: ReleaseView) -> None:
    """Raise ``InvalidInput`` for counts that are shown with a size of another noise."""
    if release.size is not None and release.size.mechanism != release.mechanism:
        raise InvalidInput(
            f"{release.query} is shown with a size of {release.size.mechanism} noise, and the law"
            " of both together is not known here. Compute from the counts without it.",
            pointer="/quantity",
        )


def has_parts(release: ReleaseView) -> bool:
    """Return True if all values are parts of one whole, so that their sum has a meaning.

    Among marginals, counts of bins and sums of moments or workloads are some that others are parts
    of, and beside counts there may be the size of their group.
    """
    stated = None if release.covariance is None else release.covariance.grouped_counts
    sized = stated is not None and stated.size_variance is not None
    return release.marginals is None and release.estimates is None and not sized


def combination(release: ReleaseView, weights: Weights) -> Derived:
    """Return the sum of the values times ``weights``, of shape ``(values,)``.

    Its confidence is the release's.  Raises ``InvalidInput`` as ``require_noise`` does, and for
    weights that are all 0.
    """
    _require(release, weights)
    value = _value(release, weights)
    factor, law = factor_of(release, weights)
    # Of what marginals agree in nothing is left but rounding, of either sign.
    deviation = math.sqrt(max(covariance_of(release).of(weights, weights), 0.0))
    return Derived(
        value,
        deviation,
        value - factor * deviation,
        value + factor * deviation,
        release.error.confidence,
        law,
    )


def ratio(
    release: ReleaseView,
    numerator: Weights,
    denominator: Weights,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> Derived:
    """Return one sum divided by another, with Fieller's interval for it.

    Exact for Gaussian noise.  Where the denominator may be 0 the possible ratios have no end or are
    of two parts, and the interval is everything between, ``within`` the least and the largest that
    the ratio may be, to which the value is clamped.  Raises what ``combination`` does.
    """
    _require(release, numerator)
    _require(release, denominator)
    covariance = covariance_of(release)
    factor, law = factor_of(release, np.abs(numerator) + np.abs(denominator))
    above, below = _value(release, numerator), _value(release, denominator)
    variances = (
        covariance.of(numerator, numerator),
        covariance.of(numerator, denominator),
        covariance.of(denominator, denominator),
    )
    least, most = within
    value = min(max(above / below, least), most) if below else max(least, min(most, 0.0))
    lower, upper, bounded = fieller((above, below), variances, factor, within)
    spread = variances[0] - 2 * value * variances[1] + value * value * variances[2]
    return Derived(
        value,
        math.sqrt(max(spread, 0.0)) / abs(below) if below else math.inf,
        min(lower, value),
        max(upper, value),
        release.error.confidence,
        f"{FIELLER}{law}{'' if bounded else OPEN}",
    )


def share(release: ReleaseView, part: Weights, whole: Weights) -> Derived:
    """Return the share of a sum in another, from 0 to 1, for values that are not negative."""
    return ratio(release, part, whole, within=(0.0, 1.0))


def combined(first: ReleaseView, second: ReleaseView) -> list[Derived]:
    """Return the best unbiased estimate of each value from two releases of one quantity.

    Generalized least squares: their noise is independent, so each is weighed by the inverse of its
    variance.  Raises ``Conflict`` for two levels of one query, whose noise is not, and
    ``InvalidInput`` for releases with other keys or another confidence, and as ``require_noise``.
    """
    require_noise(first)
    require_noise(second)
    apart = first.mechanism == "generalized_gaussian" and first.id != second.id
    if first.query == second.query and not apart:
        raise Conflict(
            f"Both are releases of {first.query}, at {first.tier} and {second.tier}: the noisier"
            " one is the other with noise added, so that averaging them only adds noise. Use the"
            " more accurate one alone."
        )
    order = {_hashable(key): place for place, key in enumerate(second.keys)}
    places = [order.get(_hashable(key), -1) for key in first.keys]
    if len(places) != len(second.keys) or set(places) != set(range(len(places))):
        raise InvalidInput(
            f"The releases of {first.query} and {second.query} have different keys, so that they"
            " are not of one quantity; choose another release.",
            pointer="/with",
        )
    if first.error.confidence != second.error.confidence:
        raise InvalidInput("The releases have intervals of different confidence.", pointer="/with")
    size, own = len(places), np.array(places, dtype=np.int64)
    variances = [
        np.broadcast_to(deviations_of(first) ** 2, size),
        np.broadcast_to(deviations_of(second) ** 2, size)[own],
    ]
    values = np.array([np.asarray(first.values), np.asarray(second.values)[own]])
    precisions = 1 / np.array(variances)
    weights = precisions / precisions.sum(axis=0)
    deviations = np.sqrt(1 / precisions.sum(axis=0))
    singles = [_factors(first, np.arange(size)), _factors(second, own)]
    mechanisms, confidence = (first.mechanism, second.mechanism), first.error.confidence
    factors, law = _of_sum(mechanisms, np.array(singles), confidence)
    return [
        Derived(value, deviation, value - reach, value + reach, confidence, law)
        for value, deviation, reach in zip(
            (weights * values).sum(axis=0).tolist(),
            deviations.tolist(),
            (factors * deviations).tolist(),
            strict=True,
        )
    ]


def factor_of(release: ReleaseView, weights: Weights) -> tuple[float, str]:
    """Return how many standard deviations the interval of a sum reaches, and by which law."""
    places = np.flatnonzero(weights)
    if len(places) == 1:
        return float(_stated(release, places)[0]), AS_STATED
    singles = _factors(release, places)[:, None]
    factors, law = _of_sum((release.mechanism,), singles, release.error.confidence)
    return float(factors[0]), law


def _of_sum(
    mechanisms: Sequence[str], singles: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], str]:
    """Return the factor of sums of the values in each column of ``singles``, and the law."""
    normal = normal_quantile(confidence)
    if all(mechanism == "gaussian" for mechanism in mechanisms):
        return np.full(singles.shape[1], normal), EXACT
    return singles.max(axis=0), CONSERVATIVE


def _factors(release: ReleaseView, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the larger of the quantiles of each value and of a normal law, and half a step."""
    deviations = np.broadcast_to(deviations_of(release), len(release.values))[places]
    steps = release.granularity / deviations / 2
    return np.maximum(_stated(release, places), normal_quantile(release.error.confidence)) + steps


def _stated(release: ReleaseView, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the margin of error of each value, in its standard deviations."""
    if release.errors is None:
        ratio = release.error.half_width / release.error.standard_deviation
        return np.full(len(places), ratio)
    widths = np.asarray(release.errors.half_widths)
    return np.asarray(widths / np.asarray(release.errors.standard_deviations))[places]


def normal_quantile(confidence: float) -> float:
    """Return how many standard deviations the interval of a normal law reaches."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def _require(release: ReleaseView, weights: Weights) -> None:
    require_noise(release)
    if not weights.any():
        raise InvalidInput(
            "The same keys are added and subtracted, so that nothing is left; choose others.",
            pointer="/second",
        )


def _value(release: ReleaseView, weights: Weights) -> float:
    places = np.flatnonzero(weights)
    values = np.asarray(release.values, dtype=np.float64)
    return math.fsum((values[places] * weights[places]).tolist())


def _hashable(key: object) -> object:
    return tuple(key) if isinstance(key, list) else key


def fieller(
    values: tuple[float, float],
    variances: tuple[float, float, float],
    factor: float,
    within: tuple[float, float],
) -> tuple[float, float, bool]:
    """Return the ends of ``{r: (A - r B)^2 <= factor^2 Var(A - r B)}``, and whether it is bounded.

    ``variances`` are those of ``A``, of both together and of ``B``.  Of a set without ends the
    smallest interval ``within`` is taken, and all of it if no ratio within is in the set.
    """
    square = factor * factor
    a = values[1] ** 2 - square * variances[2]
    b = values[0] * values[1] - square * variances[1]
    c = values[0] ** 2 - square * variances[0]
    least, most = within
    inner = b * b - a * c
    root = math.sqrt(max(inner, 0.0))
    if a > 0:
        lower, upper = (b - root) / a, (b + root) / a
        meets = lower <= most and upper >= least
        return (max(lower, least), min(upper, most), True) if meets else (least, most, True)
    if a == 0 or inner <= 0:
        return least, most, False
    # Everything but what is between the two roots.
    lower, upper = (b + root) / a, (b - root) / a
    if lower < least and upper <= most:
        return max(least, upper), most, False
    if upper > most and lower >= least:
        return least, min(most, lower), False
    return least, most, False
