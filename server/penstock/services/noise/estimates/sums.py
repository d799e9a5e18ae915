"""Estimate sums and means from a released count and released sums.

The mean is their quotient, by the delta method (``products``).  About a population, sampling adds
the variance of the values over ``n``, of which nothing was released: it is taken to be the largest
that values between -1 and 1 with the mean ``m`` have, ``1 - m^2`` (Bhatia, Davis 2000).
"""

from collections.abc import Sequence

from penstock.services.noise.estimates.products import (
    Estimate,
    Products,
    Scale,
    limited,
    moved,
    unclear,
)


def sums(products: Products, scales: Sequence[Scale]) -> list[Estimate]:
    """Return the estimates of one group, the count first; the columns are those of ``scales``."""
    added = [products.estimated_sum(column, scale) for column, scale in enumerate(scales)]
    means = [
        _mean(products, column, scale) if products.is_clear else unclear(f"mean:{scale.name}")
        for column, scale in enumerate(scales)
    ]
    return [products.estimated_count(), *added, *means]


def _mean(products: Products, column: int, scale: Scale) -> Estimate:
    """Return the mean of a column, cut to its bounds."""
    count = products.count
    mean = float(products.numbers[column + 1]) / count
    gradient = products.gradient()
    gradient[0, 0], gradient[0, column + 1] = -mean / count, 1 / count
    estimated = products.estimated(
        f"mean:{scale.name}",
        mean,
        products.flat(gradient),
        (1 - mean**2) / count,
        scale.half_width,
    )
    least, most = scale.middle - scale.half_width, scale.middle + scale.half_width
    return limited(moved(estimated, scale.middle), least, most)
