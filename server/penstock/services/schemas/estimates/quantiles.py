"""Describe quantiles as callers see them: how releases are read, and distribution functions."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import WithJsonSchema

Shares = Annotated[
    NDArray[np.float64], WithJsonSchema({"type": "array", "items": {"type": "number"}})
]


@dataclass(frozen=True)
class BinnedCountsView:
    """Hold how the values of a release of quantiles are read: sums of rows over bins.

    ``edges`` are those of the bins; the values of a group are the sums of 1, 4, 16, ... bins that
    follow each other, up to the level that has two to four of them, the bins first.
    ``probabilities`` are those of the quantiles that are shown.  With ``whole`` the column's values
    are whole numbers; none is above ``upper``.  ``rows_per_unit`` is the most rows of one privacy
    unit in a group.
    """

    edges: list[float]
    probabilities: list[float]
    upper: float
    whole: bool
    rows_per_unit: int


@dataclass(frozen=True)
class DistributionView:
    """Hold the distribution function of one group at the upper edges of the bins.

    ``shares`` are those of rows below each edge, at the last one 1; ``lower`` and ``upper`` are the
    ends of a pointwise band: each share by itself is in it as often as the release's error says.
    All three never fall.  They are null where the noise of this level is too large for any.
    """

    key: str | int | list[str] | None
    shares: Shares | None
    lower: Shares | None
    upper: Shares | None
