"""Draw uniform integers, and sets of them, exactly: every bit that is used is a raw one.

Raw words are cut to as many bits as the bound has, and drawn again if they exceed it.
"""

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness.stream import Stream

LARGEST = 1 << 64


def uniform_below(bounds: NDArray[np.uint64], stream: Stream) -> NDArray[np.uint64]:
    """Draw independent integers, the ``i``-th uniform on 0 to ``bounds[i]`` inclusive."""
    mask = bounds.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    out = stream.raw_uint64(len(bounds)) & mask
    again = np.flatnonzero(out > bounds)
    while len(again):
        out[again] = stream.raw_uint64(len(again)) & mask[again]
        again = again[out[again] > bounds[again]]
    return out


def distinct_below(bound: int, size: int, stream: Stream) -> NDArray[np.uint64]:
    """Draw a uniform set of ``size`` of the integers below ``bound``, in increasing order.

    The work is proportional to ``size``.  Raises ``InvalidInput`` for a bound above 2^64, and
    for more integers than there are.
    """
    if not 0 <= size <= bound <= LARGEST:
        raise InvalidInput(
            f"There are no {size} different integers below {bound}; a bound is at most 2^64."
        )
    if 2 * size > bound:
        left_out = distinct_below(bound, bound - size, stream)
        return np.setdiff1d(np.arange(bound, dtype=np.uint64), left_out, assume_unique=True)
    numbers = np.empty(0, dtype=np.uint64)
    while len(numbers) < size:
        # No integer is preferred to another, so all sets of this size are equally likely.
        more = np.full(size - len(numbers), bound - 1, dtype=np.uint64)
        numbers = np.union1d(numbers, uniform_below(more, stream))
    return numbers
