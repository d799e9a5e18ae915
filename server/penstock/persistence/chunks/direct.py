"""Write and read files past the system's cache of them, where the file system allows it.

A chunk is written once and its writer does not read it again.  Memory for a copy in the cache costs
more than the cipher does, and pushes the database's pages out.  What is not aligned to blocks, and
what the file system refuses, goes through the cache.
"""

import errno
import fcntl
import os
from collections.abc import Callable

BLOCK = 4096
"""Bytes that memory, offset and size are multiples of: no file system asks for more on a disk."""

_REFUSED = {errno.EINVAL, errno.EOPNOTSUPP}


def write(descriptor: int, content: bytes | memoryview) -> None:
    """Write all of ``content`` to a file that is empty.  Raises ``OSError``."""
    left = memoryview(content)
    done = _directly(descriptor, left, lambda part: os.write(descriptor, part))
    left = left[done:]
    while left:
        left = left[os.write(descriptor, left) :]


def read_into(descriptor: int, room: memoryview) -> int:
    """Read a file from its beginning until ``room`` is full; return the number of bytes read.

    A file that the cache has is taken from it; another one is not put there.  Raises ``OSError``.
    """
    done = 0
    if not _is_cached(descriptor):
        done = _directly(descriptor, room, lambda part: os.preadv(descriptor, [part], 0))
        # Asking the cache made the system read the first pages into it.
        if done:
            os.posix_fadvise(descriptor, 0, done, os.POSIX_FADV_DONTNEED)
    while part := os.preadv(descriptor, [room[done:]], done):
        done += part
    return done


def _is_cached(descriptor: int) -> bool:
    """Return True if the cache has the beginning of a file; without an answer, False."""
    try:
        return bool(os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT))
    except OSError:
        return False  # reading it tells what is wrong, if anything is


def _directly(descriptor: int, view: memoryview, move: Callable[[memoryview], int]) -> int:
    """Move the whole blocks at the beginning of ``view``; return how many bytes were moved."""
    import numpy as np  # imported late: commands that move no chunk start without it

    whole = view.nbytes - view.nbytes % BLOCK
    if not whole or np.frombuffer(view, dtype=np.uint8).ctypes.data % BLOCK:
        return 0
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_DIRECT)
        return move(view[:whole])
    except OSError as problem:
        if problem.errno in _REFUSED:
            return 0
        raise
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
