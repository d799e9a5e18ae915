"""Draw one chunk of a long vector: a function of a key, its number, and the neighbors' chunks.

The law of every coordinate is independent of all others, so chunks may be drawn anywhere and in any
order.  Nothing here knows a database, a key of the state or a file: it can run on other machines.
"""

import hashlib
import hmac
from dataclasses import dataclass
from fractions import Fraction

from penstock.mechanisms.multiple_release import draw_anchor, place, raise_anchor
from penstock.mechanisms.process import IntVector, Mechanism
from penstock.randomness.stream import Stream

_LABEL = b"penstock chunk draw 1\x00"


@dataclass(frozen=True, repr=False)
class ChunkDraws:
    """Hold what the draws of all chunks of one attempt share.  ``key`` is used for nothing else."""

    mechanism: Mechanism
    level: Fraction
    key: bytes

    def chunk_key(self, index: int) -> bytes:
        """Return the key of a chunk's stream, derived from the attempt's."""
        number = index.to_bytes(8, "big")
        return hmac.digest(self.key, _LABEL + number, hashlib.sha256)

    def stream(self, index: int) -> Stream:
        """Return the stream of a chunk."""
        return Stream(self.chunk_key(index))

    def anchor(self, index: int, exact: IntVector) -> IntVector:
        """Draw a chunk of the anchor around the exact values, as ``draw_anchor`` does."""
        return draw_anchor(self.mechanism, exact, self.level, self.stream(index))

    def between(
        self,
        index: int,
        accurate: tuple[Fraction, IntVector],
        noisy: tuple[Fraction, IntVector] | None,
    ) -> IntVector:
        """Draw a chunk between its neighbors' chunks, as ``between`` does."""
        return between(self.mechanism, self.level, self.chunk_key(index), accurate, noisy)

    def raised(self, index: int, exact: IntVector, noisy: tuple[Fraction, IntVector]) -> IntVector:
        """Draw a chunk more accurate than that of the anchor, as ``raise_anchor`` does."""
        return raise_anchor(self.mechanism, exact, noisy, self.level, self.stream(index))


def between(
    mechanism: Mechanism,
    level: Fraction,
    key: bytes,
    accurate: tuple[Fraction, IntVector],
    noisy: tuple[Fraction, IntVector] | None,
) -> IntVector:
    """Draw a chunk between its neighbors' chunks, as ``place`` does, from the stream of ``key``.

    ``noisy`` is used up: the draw may be in its memory, which first takes the difference.
    """
    room = noisy[1] if noisy else None
    return place(mechanism, accurate, noisy, level, Stream(key, room=room), room=room)
