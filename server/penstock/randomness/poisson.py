"""Draw Poisson noise of any mean up to 2^52.

Means below 16, and larger ones of vectors so long that a table pays, are drawn by inversion,
within ``2^-177`` of the law in total variation (``penstock.randomness.inversion.weights``).  The
others are drawn by transformed rejection with Loader's form of the probabilities; its error
(``rejection.RELATIVE_ERROR``, ``rejection.TAIL_ERROR``) is what is charged.  The error of numpy's
own sampler would be 2^-35 at a mean of 1e4 and 2^-28 at 1e6.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness import rejection
from penstock.randomness.inversion.rows import Rows
from penstock.randomness.inversion.table import Table
from penstock.randomness.inversion.weights import pays, poisson_table
from penstock.randomness.pieces import in_pieces
from penstock.randomness.saddle_point import log_poisson, split
from penstock.randomness.stream import Stream

LARGEST_MEAN = 1 << 52


def poisson(mean: Fraction, size: int, stream: Stream) -> NDArray[np.int64]:
    """Draw independent Poisson integers of ``mean``, shape ``(size,)``.

    Raises ``InvalidInput`` for a mean below 0 or above 2^52.
    """
    if not 0 <= mean <= LARGEST_MEAN:
        raise InvalidInput(
            f"A Poisson mean must be from 0 to 2^52, this one is {float(mean):g};"
            " choose levels in that range."
        )
    out = np.zeros(size, dtype=np.int64)
    if mean == 0:
        return out
    rows = _rows(mean) if pays(mean, size) else None
    fill = _invert if mean < rejection.SMALLEST_MEAN else _reject

    def piece(at: slice, stream: Stream) -> None:
        values = out[at]
        if rows is not None:
            rows.fill(values, stream)
            return
        for start in range(0, len(values), rejection.CHUNK):
            part = values[start : start + rejection.CHUNK]
            part[:] = fill(mean, len(part), stream)

    in_pieces(size, piece, stream)
    return out


def _reject(mean: Fraction, size: int, stream: Stream) -> NDArray[np.int64]:
    high, low = split(mean)
    whole = math.floor(mean)

    def log_pmf(
        values: NDArray[np.int64],
        at: NDArray[np.int64],  # noqa: ARG001 - all draws have one law
    ) -> NDArray[np.float64]:
        x = np.maximum(values, 0).astype(np.float64)
        logs = log_poisson(x, high, (x - high) - low)
        logs[values < 0] = -np.inf
        return logs

    sampler = rejection.TransformedRejection(
        np.broadcast_to(np.int64(whole), size),
        np.broadcast_to(np.float64(mean - whole), size),
        np.broadcast_to(np.sqrt(high), size),
        0.0,
        stream,
    )
    return sampler.draw(log_pmf)


def _invert(mean: Fraction, size: int, stream: Stream) -> NDArray[np.int64]:
    return _table(mean).draw(size, stream)


@lru_cache(maxsize=512)
def _table(mean: Fraction) -> Table:
    return poisson_table(mean)


@lru_cache(maxsize=4)
def _rows(mean: Fraction) -> Rows:
    return Rows.alone(poisson_table(mean))
