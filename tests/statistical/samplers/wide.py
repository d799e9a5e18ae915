"""Provide cells of wide Gaussian draws, and how many are drawn."""

import numpy as np
from scipy import stats

SIZE, LARGE = 840_000, 1 << 20
"""Three percent of variance need 832,000 values over 16 x 16 cells, by ``sample_sizes``; last bits
that follow the sign about 200,000 (measured over 2^16)."""


EDGES = stats.norm.ppf(np.arange(1, 16) / 16)
