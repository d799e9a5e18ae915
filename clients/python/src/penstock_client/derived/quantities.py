"""Compute sums, ratios and combinations of released values, with intervals for their noise."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from penstock_client._http.fields import Fields, Key
from penstock_client._show import notebook
from penstock_client._show.frames import label, library
from penstock_client._values.covariance import GroupedCounts, Shifted, covariance_of
from penstock_client._values.linear import (
    Noise,
    Term,
    covariance,
    factor_of,
    noise_of,
    value_of,
)
from penstock_client.errors import CovarianceUnknown, InvalidArgument, NestedNoise
from penstock_client.release import Release

if TYPE_CHECKING:
    import pandas as pd


class Weighted(Protocol):
    """Hold a number for each key: a mapping, or a pandas series."""

    def items(self) -> Iterable[tuple[Any, Any]]:
        """Return pairs of a key and its weight."""
        ...


Part = Key | Weighted
"""One key, or the weights of several."""


@dataclass(frozen=True)
class Derived:
    """Hold a derived quantity, its error, and the ends of its interval at ``confidence``.

    ``law`` states in one line how exact the interval is.  ``standard_deviation`` is that of the
    noise; of a ratio it is that of its first-order expansion, infinite if the denominator is 0.
    Ends that nothing is known of are infinite.
    """

    value: float
    standard_deviation: float
    lower: float
    upper: float
    confidence: float
    law: str

    def _repr_html_(self) -> str:
        row = "value", self.value, self.lower, self.upper
        return notebook.quantities([row], 1, self.confidence, self.law)

    def to_pandas(self) -> "pd.Series[Any]":
        """Return a pandas series of the fields.  Raises ``MissingExtra`` without pandas."""
        series: pd.Series[Any] = library("pandas", "to_pandas").Series(vars(self))
        return series


@dataclass(frozen=True)
class DerivedValues:
    """Hold a derived quantity for each of ``keys``.  Iterating yields them in order."""

    keys: tuple[Key, ...]
    items: tuple[Derived, ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Derived]:
        return iter(self.items)

    def __getitem__(self, key: Key) -> Derived:
        """Return the quantity of ``key``.  Raises ``KeyError`` if there is none."""
        if key not in self.keys:
            raise KeyError(key)
        return self.items[self.keys.index(key)]

    def _repr_html_(self) -> str:
        rows = [
            (label(key), each.value, each.lower, each.upper)
            for key, each in zip(self.keys[: notebook.ROWS], self.items, strict=False)
        ]
        if not self.items:
            return notebook.nothing()
        laws = "; ".join(dict.fromkeys(each.law for each in self.items))
        return notebook.quantities(rows, len(self), self.items[0].confidence, laws)

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas frame with one row per key and one column per field.

        Raises ``MissingExtra`` if pandas is not installed.
        """
        pandas = library("pandas", "to_pandas")
        index = pandas.Index(self.keys, name="key", tupleize_cols=False)
        frame: pd.DataFrame = pandas.DataFrame(list(map(vars, self.items)), index=index)
        return frame


def total(
    release: Release, keys: Iterable[Key] | None = None, *, confidence: float = 0.95
) -> Derived:
    """Return the sum of the values of ``keys``, or of all of them.

    Raises what ``combination`` does, and ``InvalidArgument`` if no keys are given of a release
    whose values are not parts of one whole, such as marginals.
    """
    return combination(release, _ones(release, keys), confidence=confidence)


def difference(release: Release, key: Key, minus: Key, *, confidence: float = 0.95) -> Derived:
    """Return the value of ``key`` less that of ``minus``.  Raises what ``combination`` does."""
    if key == minus:
        raise InvalidArgument(f"{label(key)} less itself is 0, without any noise.")
    return combination(release, {key: 1, minus: -1}, confidence=confidence)


def combination(release: Release, weights: Weighted, *, confidence: float = 0.95) -> Derived:
    """Return the sum of values times ``weights``, by key.

    The interval is exact for Gaussian noise.  Raises ``InvalidArgument`` for a key that was not
    released, weights that are all 0, a release of means or of a sparse histogram, and a confidence
    whose quantile is not known; ``CovarianceUnknown`` for several values that share noise if the
    server does not state how much.
    """
    return _derived(_terms(release, weights), confidence)


def ratio(
    release: Release,
    numerator: Part,
    denominator: Part,
    *,
    within: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> Derived:
    """Return one value or combination divided by another, with the interval of Fieller (1954).

    It is exact for Gaussian noise.  If the denominator may be 0, the ratios that are possible have
    no end or are of two parts, and the interval is everything between: all numbers, or all that
    are ``within`` the least and the largest that the ratio may be, to which the value is clamped
    as well.  Raises what ``combination`` does, and ``InvalidArgument`` for bounds out of order.
    """
    above, below = _terms(release, _weights(numerator)), _terms(release, _weights(denominator))
    least, most = (-math.inf, math.inf) if within is None else within
    if not least < most:
        raise InvalidArgument(
            f"The least ratio is below the largest: {least:g} is not below {most:g}."
        )
    _require_known([*above, *below])
    factor, law = factor_of([*above, *below], confidence)
    first, second = value_of(above), value_of(below)
    value = min(max(first / second, least), most) if second else max(least, min(most, 0.0))
    lower, upper, known = _fieller(
        (first, second),
        (covariance(above, above), covariance(above, below), covariance(below, below)),
        factor,
        (least, most),
    )
    spread = covariance(above, above) - 2 * value * covariance(above, below)
    spread += value * value * covariance(below, below)
    return Derived(
        value=value,
        standard_deviation=math.sqrt(max(spread, 0.0)) / abs(second) if second else math.inf,
        lower=min(lower, value),
        upper=max(upper, value),
        confidence=confidence,
        law=f"Fieller, {law}" if known else f"Fieller, {law}; the denominator may be 0",
    )


def share(
    release: Release,
    key: Part,
    of: Iterable[Key] | None = None,
    *,
    confidence: float = 0.95,
) -> Derived:
    """Return the share of ``key`` in the total of the keys ``of``, or of all, from 0 to 1.

    It is for values that are not negative.  Raises what ``ratio`` does, and if no keys are given
    what ``total`` does.
    """
    return ratio(release, key, _ones(release, of), within=(0, 1), confidence=confidence)


def combined(releases: Sequence[Release], *, confidence: float = 0.95) -> DerivedValues:
    """Return the best unbiased estimate of each value from several releases of one quantity.

    They are releases of different queries, whose noise is independent, for instance of the same
    counts in two datasets' versions; take each at your best level.  Generalized least squares then
    weighs each by the inverse of its variance.  Two levels of one query are refused with
    ``NestedNoise``.  Raises ``InvalidArgument`` if there are fewer than two or if their keys
    differ, and what ``combination`` does.
    """
    if len(releases) < 2:
        raise InvalidArgument("At least two releases are needed to combine them.")
    _require_separate(releases)
    keys = releases[0].keys
    if any(set(release.keys) != set(keys) or len(release) != len(keys) for release in releases):
        raise InvalidArgument("The releases have different keys, so they are not of one quantity.")
    places = [{key: place for place, key in enumerate(release.keys)} for release in releases]
    noises = [_noise(release) for release in releases]
    items = []
    for key in keys:
        at = [place[key] for place in places]
        precisions = [
            1 / noise.error(place).standard_deviation ** 2
            for noise, place in zip(noises, at, strict=True)
        ]
        terms = [
            Term(noise, place, key, release.values[place], precision / math.fsum(precisions))
            for release, noise, place, precision in zip(
                releases, noises, at, precisions, strict=True
            )
        ]
        items.append(_derived(terms, confidence))
    return DerivedValues(keys, tuple(items))


def _derived(terms: Sequence[Term], confidence: float) -> Derived:
    _require_known(terms)
    factor, law = factor_of(terms, confidence)
    # Of what marginals agree in nothing is left but rounding, of either sign.
    value, deviation = value_of(terms), math.sqrt(max(covariance(terms, terms), 0.0))
    half = factor * deviation
    return Derived(value, deviation, value - half, value + half, confidence, law)


def _weights(part: Part) -> Weighted:
    """Return the weights of a part: 1 for a key alone."""
    if isinstance(part, str | int | float | tuple):
        return {part: 1}
    return part


def _terms(release: Release, weights: Weighted) -> list[Term]:
    """Return the weighted values of a release.  Raises ``InvalidArgument`` for unknown keys."""
    places = {key: place for place, key in enumerate(release.keys)}
    noise = _noise(release)
    terms = []
    for key, weight in weights.items():
        if key not in places:
            raise InvalidArgument(f"{release.query!r} has no value for the key {label(key)!r}.")
        if not math.isfinite(weight):
            raise InvalidArgument(f"The weight of {label(key)!r} is {weight}, which is not finite.")
        if weight:
            place = places[key]
            terms.append(Term(noise, place, key, release.values[place], float(weight)))
    if not terms:
        raise InvalidArgument("All weights are 0, so there is nothing to compute.")
    return terms


def _noise(release: Release) -> Noise:
    """Return the noise of a release whose values are exact ones plus noise."""
    if release.mean is not None:
        raise InvalidArgument(
            f"{release.query!r} has means, which are ratios of noisy values; register a query for"
            " sums and one for counts to combine them."
        )
    if release.histogram is not None:
        raise InvalidArgument(
            f"{release.query!r} is a sparse histogram: its keys were chosen by their noisy counts,"
            " so the noise of those that are shown is not centered."
        )
    stated = release.answer.get("covariance")
    joint = None
    if isinstance(stated, Mapping):
        joint = covariance_of(Fields(dict(stated), "release.covariance"), release.marginals)
    if joint is not None and release.part is not None:
        # The covariance is stated for the places of the whole release.
        joint = Shifted(joint, release.part.first or 0)
    # Servers that state no covariance had releases with it all the same.
    shares = bool(release.marginals) or release.errors is not None
    known = joint is not None or (stated is None and ("covariance" in release.answer or not shares))
    parts = release.id, release.noise, release.granularity, release.error, release.errors
    return noise_of(*parts, joint, known=known)


def _ones(release: Release, keys: Iterable[Key] | None) -> dict[Key, int]:
    """Return a weight of 1 for each of ``keys``, or for all where these are parts of a whole."""
    if keys is not None:
        return dict.fromkeys(keys, 1)
    joint = _noise(release).joint
    sized = isinstance(joint, GroupedCounts) and joint.size_variance is not None
    if release.estimates or release.marginals or sized:
        what = "the size of each group" if sized else "several tables, groups of bins or sums"
        raise InvalidArgument(
            f"The values of {release.query!r} are not parts of one whole: among them are {what}."
            " Name the keys to add up."
        )
    return dict.fromkeys(release.keys, 1)


def _require_known(terms: Sequence[Term]) -> None:
    """Raise ``CovarianceUnknown`` for several values of a release whose noise is correlated."""
    places: dict[str, int] = {}
    for term in terms:
        first = places.setdefault(term.noise.release, term.place)
        if first != term.place and not term.noise.known:
            raise CovarianceUnknown(
                "The values of this release share noise, and the server does not state their"
                " covariance, or not so that this version knows it; take one key, or another"
                " version of the client."
            )


def _require_separate(releases: Sequence[Release]) -> None:
    """Raise ``NestedNoise`` for two releases whose noise is one path, or that are the same."""
    for place, release in enumerate(releases):
        for other in releases[:place]:
            independent = release.mechanism == "generalized_gaussian" and release.id != other.id
            if release.query == other.query and not independent:
                raise NestedNoise(release.query, (other.tier, release.tier))


def _fieller(
    values: tuple[float, float],
    variances: tuple[float, float, float],
    factor: float,
    within: tuple[float, float],
) -> tuple[float, float, bool]:
    """Return the ends of ``{r: (A - r B)^2 <= factor^2 Var(A - r B)}``, and whether it is bounded.

    ``variances`` are those of ``A``, of both together and of ``B``.  Of a set that has no ends the
    smallest interval ``within`` is taken, and all of it if no ratio within is in the set.
    """
    above, below = values
    square = factor * factor
    a = below * below - square * variances[2]
    b = above * below - square * variances[1]
    c = above * above - square * variances[0]
    least, most = within
    inner = b * b - a * c
    if a <= 0 and inner <= 0:
        return least, most, False
    root = math.sqrt(max(inner, 0.0))
    if a > 0:
        lower, upper = (b - root) / a, (b + root) / a
        if lower <= most and upper >= least:
            return max(lower, least), min(upper, most), True
        return least, most, True
    if a == 0:
        return least, most, False
    # Everything but what is between the two roots.
    lower, upper = (b + root) / a, (b - root) / a
    if lower < least and upper <= most:
        return max(least, upper), most, False
    if upper > most and lower >= least:
        return least, min(most, lower), False
    return least, most, False
