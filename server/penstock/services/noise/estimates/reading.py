"""Estimate the statistics of all groups of a release from its values alone.

It is post-processing: a release is not needed again, nor are the data.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from penstock.connectors.planning.plan import pairs
from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import Numbers, Products, Scale
from penstock.services.noise.estimates.regression import regression
from penstock.services.schemas.views import ErrorView, EstimateView, Keys, ProductsView, ReleaseView

Interval = Literal["noise", "population"]
NOISE: Final = "noise"


def estimates_of(
    keys: Keys, values: Numbers, error: ErrorView, view: ProductsView, interval: Interval
) -> list[EstimateView]:
    """Return the estimates of each group, those of one group together, in the order of the keys.

    ``values`` have the shape ``(groups * numbers,)``, the numbers of one group together; ``error``
    is that of each of them.  Intervals have the confidence of ``error``.
    """
    normal = NormalDist().inv_cdf((1 + error.confidence) / 2)
    ratio = max(normal, error.half_width / error.standard_deviation)
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
        for each in estimated(products, scales):
            # No sampling changes the number of rows that are in the data.
            kind = NOISE if each.name == "n" else interval
            estimates.append(
                EstimateView(
                    each.name,
                    key,
                    each.value,
                    each.lower,
                    each.upper,
                    each.standard_deviation,
                    kind,
                )
            )
    return estimates


def with_interval(release: ReleaseView, interval: Interval) -> ReleaseView:
    """Return a release whose estimates have these intervals; any other release as it is."""
    if release.moments is None or interval == NOISE:
        return release
    estimates = estimates_of(release.keys, release.values, release.error, release.moments, interval)
    return replace(release, estimates=estimates)


def _group(key: object) -> str | list[str] | None:
    """Return the key of the group that a number's key belongs to; None without groups."""
    if not isinstance(key, Sequence) or isinstance(key, str):
        return None
    return key[0] if len(key) == 2 else list(key[:-1])
