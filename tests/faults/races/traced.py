"""Provide releases that carry, beside their noise, a record of what they were drawn from.

The first ``RECORD`` integers of a traced release are a digest of its level and of the
neighbors that the draw was given, whole; the others are what the product draws.  So a
stored value tells by itself whether the neighbors recorded beside it are the true ones.
"""

import hashlib
from fractions import Fraction

import numpy as np

from penstock import mechanisms
from penstock.mechanisms import IntVector, Mechanism
from penstock.randomness import Stream
from penstock.services.noise.kinds import vector

RECORD = 4
_DIGEST_BYTES = 6
"""So that a record is exact as a float."""

Placed = tuple[Fraction, IntVector]


def trace() -> None:
    """Let this process release traced vectors."""
    vars(vector)["place"] = place


def place(
    mechanism: Mechanism,
    accurate: Placed | None,
    noisy: Placed | None,
    level: Fraction,
    stream: Stream,
    *,
    room: IntVector | None = None,
) -> IntVector:
    """Return the product's draw, with the record in front."""
    drawn = mechanisms.place(mechanism, _noise(accurate), _noise(noisy), level, stream)
    return np.concatenate([record(accurate, noisy, level), drawn])


def record(accurate: Placed | None, noisy: Placed | None, level: Fraction) -> IntVector:
    """Return the digest of a draw's circumstances, shape ``(RECORD,)``."""
    digest = hashlib.sha256(str(level).encode())
    for neighbor in (accurate, noisy):
        if neighbor is None:
            digest.update(b"none")
        else:
            digest.update(f"{neighbor[0]}:".encode() + neighbor[1].tobytes())
    octets = digest.digest()
    words = [octets[k * _DIGEST_BYTES : (k + 1) * _DIGEST_BYTES] for k in range(RECORD)]
    return np.array([int.from_bytes(word, "little") for word in words], dtype=np.int64)


def _noise(placed: Placed | None) -> Placed | None:
    return None if placed is None else (placed[0], placed[1][RECORD:])
