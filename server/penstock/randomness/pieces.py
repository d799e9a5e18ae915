"""Draw long vectors in pieces, each from a stream of its own, on one thread or several.

A vector of up to ``PIECE`` values is one piece, drawn from the stream itself.  For a longer one the
stream first yields a key for each piece, so that a piece is the same whichever thread draws it, and
when: the same bytes at any number of threads.  Bits that have been a key are used for nothing else.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.randomness.stream import KEY_BYTES, Stream

PIECE = 1 << 18
"""Values of a piece: a key costs little beside them, and few pieces make two threads busy."""

Fill = Callable[[slice, Stream], None]
"""Draws the values of a slice from a stream, and nothing else that other pieces use."""


def in_pieces(size: int, fill: Fill, stream: Stream) -> None:
    """Have ``fill`` draw ``size`` values, on as many threads as the stream may use.

    numpy leaves the interpreter's lock while it draws and calculates.  The threads end before this
    returns; an error of one of them is raised when all have ended.
    """
    if size <= PIECE:
        fill(slice(0, size), stream)
        return
    pieces = [slice(start, min(start + PIECE, size)) for start in range(0, size, PIECE)]
    keys = stream.raw_uint64(len(pieces) * KEY_BYTES // 8).tobytes()
    waiting = deque(
        (piece, keys[place * KEY_BYTES : (place + 1) * KEY_BYTES])
        for place, piece in enumerate(pieces)
    )

    def work() -> None:
        while waiting:
            try:
                piece, key = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            fill(piece, Stream(key))

    helpers = min(stream.threads, len(pieces)) - 1
    if not helpers:
        work()
        return
    # Threads of one draw: none are left for a fork to lose, or for another draw to wait for.
    with ThreadPoolExecutor(helpers) as pool:
        drawn = [pool.submit(work) for _ in range(helpers)]
        work()
    for each in drawn:
        each.result()
