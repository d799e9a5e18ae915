"""Say how noisy the estimates of moments would be, before there is a release.

That depends on the data to first order: on the number of rows, in inverse proportion to it, and on
where the values are.  So it is said for rows whose values are spread evenly between the bounds of
their columns, each column by itself.
"""

from typing import Final

import numpy as np

from penstock.connectors.planning.plan import labels_of, pairs
from penstock.connectors.specs.moments import Order
from penstock.services.noise.estimates.reading import NOISE, estimates_of
from penstock.services.schemas.previews import (
    ExpectedEstimatesView,
    ExpectedEstimateView,
    NumberWeightView,
)
from penstock.services.schemas.views import ErrorView, ProductsView

FEWEST_ROWS: Final = 1000
MOST_ROWS: Final = 10**12


def expected_of(view: ProductsView, error: ErrorView) -> ExpectedEstimatesView:
    """Return the standard deviations of estimates from a round number of rows in one group.

    It is the smallest power of ten, from ``FEWEST_ROWS``, of which all are estimated.  ``error`` is
    that of the number with the least weight.
    """
    order: Order = 1 if view.order == 1 else 2
    places = pairs(len(view.columns), order)
    # The mean of a product of numbers spread evenly between -1 and 1.
    means = np.array(
        [1.0 if place == (0, 0) else float(place[0] == place[1]) / 3 for place in places]
    )
    labels = labels_of([each.name for each in view.columns], order)
    weights = [NumberWeightView(*both) for both in zip(labels, view.weights, strict=True)]
    rows = FEWEST_ROWS
    while True:
        estimates = estimates_of(np.arange(len(places)), rows * means, error, view, NOISE)
        if rows >= MOST_ROWS or all(each.value is not None for each in estimates):
            listed = [
                ExpectedEstimateView(each.name, each.standard_deviation) for each in estimates
            ]
            return ExpectedEstimatesView(rows, weights, listed)
        rows *= 10
