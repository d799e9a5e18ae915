"""Compute the confidence intervals of a release."""

import numpy as np
from numpy.typing import NDArray

from penstock.services.schemas.views import ReleaseView


def ends(release: ReleaseView) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper end of each value's interval, at the confidence of its error."""
    if release.mean is not None:
        return release.mean.lower, release.mean.upper
    values = np.asarray(release.values)
    half = release.error.half_width if release.errors is None else release.errors.half_widths
    return values - half, values + half
