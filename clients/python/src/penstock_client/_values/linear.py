"""Compute the noise of linear combinations of released values.

Noises of releases of different queries are independent, and so are those of different values of a
release, unless it states their covariance.  A combination's interval reaches some number of its
standard deviations: the ``factor``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from penstock_client._http.fields import Key
from penstock_client._values.covariance import Covariance, Weights
from penstock_client._values.interval import KNOWN, half_width, quantile, require_confidence
from penstock_client._values.value_errors import ValueErrors
from penstock_client.errors import InvalidArgument
from penstock_client.models import ErrorBars

EXACT = "exact for Gaussian noise"
CONSERVATIVE = "conservative: the larger quantile of one value's noise and of a normal law"


@dataclass(frozen=True)
class Noise:
    """Hold the noise of each value of one release."""

    release: str
    mechanism: str
    granularity: float
    errors: tuple[ErrorBars, ...] = field(repr=False)
    joint: Covariance | None = field(default=None, repr=False, compare=False)
    known: bool = True
    """False if values share noise, and how much is not stated, or not in a way that is known."""

    def error(self, place: int) -> ErrorBars:
        """Return the error of the value at ``place``."""
        return self.errors[place] if len(self.errors) > 1 else self.errors[0]

    def covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two combinations of the values, by place."""
        if self.joint is not None:
            return self.joint.of(first, second)
        return math.fsum(
            weight * second[place] * self.error(place).standard_deviation ** 2
            for place, weight in first.items()
            if place in second
        )

    def factor(self, place: int, confidence: float) -> tuple[float, str]:
        """Return how many standard deviations one value's interval reaches, and by which law.

        Raises ``InvalidArgument`` for a confidence whose quantile is not known.
        """
        error = self.error(place)
        width, law = half_width(self.mechanism, self.granularity, error, confidence)
        return width / error.standard_deviation, law


def noise_of(
    release: str,
    mechanism: str,
    granularity: float,
    error: ErrorBars,
    errors: ValueErrors | None,
    joint: Covariance | None = None,
    *,
    known: bool = True,
) -> Noise:
    """Return the noise of a release, whose values have the same error or one each."""
    each = (error,) if errors is None else tuple(errors)
    return Noise(release, mechanism, granularity, each, joint, known)


@dataclass(frozen=True)
class StepNoise:
    """Hold the law of the noises of a stream, on the lattice of its totals."""

    mechanism: str
    granularity: float

    def of_nodes(self, deviations: Sequence[float], confidence: float) -> tuple[float, float, str]:
        """Return the standard deviation and half width of a sum of noises, and the law of it.

        ``deviations`` are the standard deviations of the noises, which are independent.  Raises
        ``InvalidArgument`` for a confidence outside (0, 1), and for a mechanism whose law is not
        known.
        """
        require_confidence(confidence)
        if self.mechanism not in KNOWN:
            raise InvalidArgument(f"This version does not know the law of {self.mechanism} noise.")
        deviation = math.hypot(*deviations)
        normal = -NormalDist().inv_cdf((1 - confidence) / 2)
        if self.mechanism == "gaussian":
            return deviation, normal * deviation, EXACT
        widths = {
            each: quantile(self.mechanism, self.granularity, each, confidence)
            for each in set(deviations)
        }
        if len(deviations) == 1:
            return deviation, *widths[deviation]
        factor = max(
            (max(half, normal * each) + self.granularity / 2) / each
            for each, (half, _) in widths.items()
        )
        return deviation, factor * deviation, CONSERVATIVE


@dataclass(frozen=True)
class Term:
    """Hold one weighted value of a combination."""

    noise: Noise
    place: int
    key: Key
    value: float
    weight: float


def value_of(terms: Sequence[Term]) -> float:
    """Return the sum of the weighted values."""
    return math.fsum(term.weight * term.value for term in terms)


def covariance(first: Sequence[Term], second: Sequence[Term]) -> float:
    """Return the covariance of the noises of two combinations."""
    others = _by_release(second)
    return math.fsum(
        noise.covariance(weights, others[release][1])
        for release, (noise, weights) in _by_release(first).items()
        if release in others
    )


def _by_release(terms: Sequence[Term]) -> dict[str, tuple[Noise, dict[int, float]]]:
    weights: dict[str, tuple[Noise, dict[int, float]]] = {}
    for term in terms:
        weights.setdefault(term.noise.release, (term.noise, {}))[1][term.place] = term.weight
    return weights


def factor_of(terms: Sequence[Term], confidence: float) -> tuple[float, str]:
    """Return how many standard deviations the interval of a combination reaches, and by which law.

    For one value it is the quantile of its own noise.  Sums of Gaussian noise are Gaussian.  The
    law of sums of other noise lies between that of one value and the normal one, so the larger of
    both quantiles is taken, and half a lattice step is added, since sums have atoms as well.
    Raises ``InvalidArgument`` for a confidence whose quantile is not known.
    """
    require_confidence(confidence)
    places = {(term.noise.release, term.place) for term in terms if term.weight}
    if len(places) == 1:
        only = next(term for term in terms if term.weight)
        return only.noise.factor(only.place, confidence)
    normal = -NormalDist().inv_cdf((1 - confidence) / 2)
    singles = {(term.noise, term.place if len(term.noise.errors) > 1 else 0) for term in terms}
    if all(noise.mechanism == "gaussian" for noise, _ in singles):
        return normal, EXACT
    largest = 0.0
    for noise, place in singles:
        step = noise.granularity / noise.error(place).standard_deviation
        largest = max(largest, noise.factor(place, confidence)[0] + step / 2, normal + step / 2)
    return largest, CONSERVATIVE
