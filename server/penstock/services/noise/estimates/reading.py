"""Estimate the statistics of all groups of a release from its values alone.

It is post-processing: a release is not needed again, nor are the data.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from penstock.connectors.planning.plan import pairs
from penstock.errors import InvalidInput
from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import Estimate, Numbers, Products, Scale
from penstock.services.noise.estimates.quantiles import Distributions
from penstock.services.noise.estimates.regression import regression
from penstock.services.schemas.estimates.quantiles import BinnedCountsView, DistributionView
from penstock.services.schemas.views import ErrorView, EstimateView, Keys, ProductsView, ReleaseView
from penstock.structures.bin_tree import BinTree

Interval = Literal["noise", "population"]
NOISE: Final = "noise"


def estimates_of(
    keys: Keys, values: Numbers, error: ErrorView, view: ProductsView, interval: Interval
) -> list[EstimateView]:
    """Return the estimates of each group, those of one group together, in the order of the keys.

    ``values`` have the shape ``(groups * numbers,)``, the numbers of one group together; ``error``
    is that of each of them.  Intervals have the confidence of ``error``.
    """
    ratio = _ratio(error)
    scales = [Scale(each.name, each.middle, each.half_width) for each in view.columns]
    count = len(pairs(len(scales)))
    estimated = moments if view.outcome is None else regression
    estimates = []
    for group, numbers in enumerate(np.asarray(values).reshape(-1, count)):
        products = Products(
            numbers,
            len(scales),
            error.standard_deviation,
            ratio,
            view.rows_per_unit,
            sampling=interval != NOISE,
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


def reread(
    release: ReleaseView, interval: Interval, probabilities: Sequence[float] = ()
) -> ReleaseView:
    """Return a release whose estimates have these intervals, and quantiles these probabilities.

    A release without estimates is returned as it is.  Raises ``InvalidInput`` for probabilities of
    a release that has no quantiles.
    """
    view = release.quantiles
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
    if release.moments is None or interval == NOISE:
        return release
    estimates = estimates_of(release.keys, release.values, release.error, release.moments, interval)
    return replace(release, estimates=estimates)


def _ratio(error: ErrorView) -> float:
    """Return the ratio of half widths to standard deviations, at least that of a normal law."""
    normal = NormalDist().inv_cdf((1 + error.confidence) / 2)
    return max(normal, error.half_width / error.standard_deviation)


def _shown(estimate: Estimate, key: str | list[str] | None, interval: Interval) -> EstimateView:
    # No sampling changes the number of rows that are in the data.
    kind = NOISE if estimate.name == "n" else interval
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
