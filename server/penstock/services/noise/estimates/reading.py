"""Estimate the statistics of all groups of a release from its values alone.

It is post-processing: a release is not needed again, nor are the data.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from penstock.connectors.planning.plan import pairs
from penstock.connectors.specs.moments import Order
from penstock.errors import InvalidInput
from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import Estimate, Numbers, Products, Scale
from penstock.services.noise.estimates.quantiles import Distributions
from penstock.services.noise.estimates.regression import regression
from penstock.services.noise.estimates.sums import sums
from penstock.services.schemas.estimates.quantiles import BinnedCountsView, DistributionView
from penstock.services.schemas.previews import RankErrorView
from penstock.services.schemas.views import ErrorView, EstimateView, Keys, ProductsView, ReleaseView
from penstock.structures.bin_tree import BinTree

Interval = Literal["noise", "population"]
NOISE: Final = "noise"


@dataclass(frozen=True)
class EstimateChoice:
    """Hold what is to be estimated from a release, where it is not what was registered.

    ``probabilities`` are those of quantiles.  Moments are read as the regression of ``outcome`` on
    ``predictors``, or on all other columns.
    """

    interval: Interval = NOISE
    probabilities: Sequence[float] = ()
    outcome: str | None = None
    predictors: Sequence[str] = ()


AS_REGISTERED: Final = EstimateChoice()


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of columns that are separated by commas; none of an empty text."""
    return tuple(name.strip() for name in text.split(",")) if text.strip() else ()


def estimates_of(
    keys: Keys,
    values: Numbers,
    error: ErrorView,
    view: ProductsView,
    interval: Interval,
    names: Sequence[str] = (),
) -> list[EstimateView]:
    """Return the estimates of each group, those of one group together, in the order of the keys.

    ``values`` have the shape ``(groups * numbers,)``, the numbers of one group together; ``error``
    is that of the ones with the least weight.  Intervals have the confidence of ``error``.  With
    ``names`` they are read as the regression of the last of these columns on the others.
    """
    ratio = _ratio(error)
    known = [each.name for each in view.columns]
    places = [known.index(name) for name in names or known]
    columns = [view.columns[place] for place in places]
    scales = [Scale(each.name, each.middle, each.half_width) for each in columns]
    order: Order = 1 if view.order == 1 else 2
    count = len(pairs(len(known), order))
    read = _numbers_of(places, len(known), order)
    deviation = error.standard_deviation * min(view.weights)
    weights = tuple(view.weights[number] for number in read)
    regressed = bool(names) or view.outcome is not None
    estimated = {1: sums, 2: regression if regressed else moments}[order]
    estimates = []
    for group, numbers in enumerate(np.asarray(values).reshape(-1, count)):
        products = Products(
            numbers[read],
            len(scales),
            deviation,
            ratio,
            view.rows_per_unit,
            sampling=interval != NOISE,
            order=order,
            weights=weights,
        )
        key = _group(keys[group * count])
        estimates += [_shown(each, key, interval) for each in estimated(products, scales)]
    return estimates


def quantiles_of(
    keys: Keys, values: Numbers, error: ErrorView, view: BinnedCountsView, interval: Interval
) -> tuple[list[EstimateView], list[DistributionView]]:
    """Return the quantiles of each group, and its distribution function, as ``estimates_of``."""
    size = BinTree(len(view.edges) - 1).size
    own = Distributions(
        np.asarray(values, dtype=np.float64).reshape(-1, size),
        np.asarray(view.edges),
        view.upper,
        view.whole,
        error.standard_deviation,
        _ratio(error),
        _lone_ratio(error),
        error.confidence,
        view.rows_per_unit,
        sampling=interval != NOISE,
    )
    estimates, distributions = [], []
    for group, estimated in enumerate(own.estimates(view.probabilities)):
        key = _group(keys[group * size])
        estimates += [_shown(each, key, interval) for each in estimated]
        parts = (own.shares, own.band.lower, own.band.upper)
        shown = (part[group] if own.is_clear[group] else None for part in parts)
        distributions.append(DistributionView(key, *shown))
    return estimates, distributions


def rank_errors(
    bins: int, probabilities: Collection[float], error: ErrorView
) -> list[RankErrorView]:
    """Return the largest errors of ranks, in rows, where ``error`` is that of one released number.

    The rank at ``probability`` is the number of rows below an edge less that share of all rows.
    """
    spread, ratio = BinTree(bins).spread, _ratio(error)
    ranks = []
    for probability in sorted(probabilities):
        largest = math.sqrt(float(spread.around(probability).max()))
        deviation = largest * error.standard_deviation
        own = ErrorView(deviation, error.confidence, ratio * deviation)
        ranks.append(RankErrorView(probability, own))
    return ranks


def _numbers_of(places: Sequence[int], columns: int, order: Order) -> list[int]:
    """Return where the numbers of some columns are among those of all, ordered as ``pairs``."""
    at = {pair: number for number, pair in enumerate(pairs(columns, order))}
    whole = [0, *(place + 1 for place in places)]
    inner = [(whole[i], whole[j]) for i, j in pairs(len(places), order)]
    return [at[min(pair), max(pair)] for pair in inner]


def reread(release: ReleaseView, choice: EstimateChoice) -> ReleaseView:
    """Return a release with what was chosen to be estimated from it.

    A release without estimates is returned as it is.  Raises ``InvalidInput`` for probabilities of
    a release that has no quantiles, and for the outcome of one that has no moments, or not of these
    columns.
    """
    view, interval, probabilities = release.quantiles, choice.interval, choice.probabilities
    names = _regressed(release, choice)
    if view is not None and (probabilities or interval != NOISE):
        if probabilities:
            view = replace(view, probabilities=list(probabilities))
        estimates, distributions = quantiles_of(
            release.keys, release.values, release.error, view, interval
        )
        return replace(release, quantiles=view, estimates=estimates, distributions=distributions)
    if probabilities and view is None:
        raise InvalidInput(
            f"The query {release.query} has no quantiles; leave probabilities out.",
            pointer="/probabilities",
        )
    products = release.moments
    if products is None or (interval == NOISE and not names):
        return release
    estimates = estimates_of(release.keys, release.values, release.error, products, interval, names)
    return replace(release, estimates=estimates)


def _regressed(release: ReleaseView, choice: EstimateChoice) -> list[str]:
    """Return the columns of the regression that was chosen, the outcome last; none for none."""
    outcome, predictors = choice.outcome, list(choice.predictors)
    if outcome is None and not predictors:
        return []
    if release.moments is None:
        raise InvalidInput(
            f"The query {release.query} has no moments; leave outcome and predictors out.",
            pointer="/outcome",
        )
    if release.moments.order == 1:
        raise InvalidInput(
            f"The query {release.query} has sums without products, of which no regression is"
            " computed; leave outcome and predictors out.",
            pointer="/outcome",
        )
    known = [each.name for each in release.moments.columns]
    if outcome not in known:
        raise InvalidInput(
            f"The outcome is one of the columns {', '.join(known)} of the query.",
            pointer="/outcome",
        )
    predictors = predictors or [name for name in known if name != outcome]
    allowed = set(known) - {outcome}
    if not predictors or not set(predictors) <= allowed or len(set(predictors)) < len(predictors):
        raise InvalidInput(
            f"Predictors are other columns of the query than the outcome, each once:"
            f" {', '.join(sorted(allowed)) or 'this one has no other'}.",
            pointer="/predictors",
        )
    return [*predictors, outcome]


def _ratio(error: ErrorView) -> float:
    """Return the ratio of half widths to standard deviations, at least that of a normal law."""
    normal = NormalDist().inv_cdf((1 + error.confidence) / 2)
    return max(normal, error.half_width / error.standard_deviation)


def _lone_ratio(error: ErrorView) -> float:
    """Return the ratio for one end alone, which of a normal law is known and smaller."""
    normal = NormalDist()
    both = normal.inv_cdf((1 + error.confidence) / 2)
    if math.isclose(error.half_width, both * error.standard_deviation, rel_tol=1e-3):
        return normal.inv_cdf(error.confidence)
    return _ratio(error)


def _shown(estimate: Estimate, key: str | list[str] | None, interval: Interval) -> EstimateView:
    # No sampling changes the number of rows that are in the data, nor what they add up to.
    of_data = estimate.name == "n" or estimate.name.startswith("sum:")
    kind = NOISE if of_data else interval
    return EstimateView(
        estimate.name,
        key,
        estimate.value,
        estimate.lower,
        estimate.upper,
        estimate.standard_deviation,
        kind,
    )


def _group(key: object) -> str | list[str] | None:
    """Return the key of the group that a number's key belongs to; None without groups."""
    if not isinstance(key, Sequence) or isinstance(key, str):
        return None
    return key[0] if len(key) == 2 else list(key[:-1])
