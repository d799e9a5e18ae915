"""Provide the memory that the chunks of one thread pass through, one after the other.

Fresh memory for each chunk costs more than the cipher: every page of it is a fault, and is zeroed.
It is aligned to the blocks of disks, so that files are written from it and read into it directly.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.encryption.envelope import OVERHEAD
from penstock.persistence.chunks.direct import BLOCK


@dataclass
class Rooms:
    """Hold one array for each use, as large as was needed so far.

    What was put into one is overwritten by the next chunk of the same use.
    """

    _arrays: dict[str, NDArray[np.uint8]] = field(default_factory=dict)

    def room(self, use: str, size: int) -> NDArray[np.uint8]:
        """Return an array of ``size`` bytes, whose content is whatever was there."""
        array = self._arrays.get(use)
        if array is None or len(array) < size:
            self._arrays[use] = array = _aligned(size)
        return array[:size]

    def sealed(self, integers: int) -> NDArray[np.uint8]:
        """Return the place for a sealed chunk of so many integers."""
        return self.room("sealed", 8 * integers + OVERHEAD)

    def opened(self, use: str) -> Callable[[int], NDArray[np.uint8]]:
        """Return what provides the place of an opened chunk, given its size in bytes."""
        return lambda size: self.room(use, size)


def _aligned(size: int) -> NDArray[np.uint8]:
    array = np.empty(size + BLOCK, dtype=np.uint8)
    start = -array.ctypes.data % BLOCK
    return array[start : start + size]
