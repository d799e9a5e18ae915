"""Provide the memory that the chunks of one thread pass through, one after the other.

Fresh memory for each chunk costs more than the cipher: every page of it is a fault, and is zeroed.
So a process keeps the memory of its last draw for the next one, with what was opened in it erased.
It is aligned to huge pages and so to the blocks of disks: files are written from it and read into
it directly.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from penstock.encryption.envelope import OVERHEAD

HUGE_PAGE = 1 << 21
"""The alignment of memory: a multiple of what files on disks need, and of any page's size.

Memory that begins amid a huge page takes hundreds of small ones on either side, each with a fault.
"""

_SEALED = "sealed"


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
        return self.room(_SEALED, 8 * integers + OVERHEAD)

    def erase(self) -> None:
        """Erase what was opened; a sealed chunk is ciphertext, and stays."""
        for use, array in self._arrays.items():
            if use != _SEALED:
                array.fill(0)

    def opened(self, use: str) -> Callable[[int], NDArray[np.uint8]]:
        """Return what provides the place of an opened chunk, given its size in bytes."""
        return lambda size: self.room(use, size)


_spare: deque[Rooms] = deque(maxlen=1)
"""The rooms that no draw uses, of one thread: a server that draws seldom would hold the rest."""


@contextmanager
def reused_rooms() -> Iterator[Rooms]:
    """Provide the rooms of an earlier draw, or new ones; nothing that is opened in them stays."""
    try:
        rooms = _spare.pop()
    except IndexError:
        rooms = Rooms()
    try:
        yield rooms
    finally:
        rooms.erase()
        _spare.append(rooms)


def _aligned(size: int) -> NDArray[np.uint8]:
    whole = -(-size // HUGE_PAGE) * HUGE_PAGE
    # numpy requests huge pages from 4 MiB on, and the system gives those that lie in it as a whole.
    array = np.empty(whole + HUGE_PAGE, dtype=np.uint8)
    start = -array.ctypes.data % HUGE_PAGE
    return array[start : start + size]
