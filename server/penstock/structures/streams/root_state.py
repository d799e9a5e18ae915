"""Write the noise of a square-root stream as bytes and read it back.

So it outlives its process.  The format is a line of JSON, then every level's noise, step by step,
as little-endian ``int64``.  The bytes are as secret as the noise: callers encrypt them before they
store them.
"""

import json
from fractions import Fraction

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.structures.streams.root_noise import RootNoise

VERSION = 1


def to_bytes(noise: RootNoise) -> bytes:
    """Write the whole state except for mechanism, length and lattice, which are public."""
    header = {
        "version": VERSION,
        "step": noise.step,
        "dimension": noise.dimension,
        "levels": [str(level) for level in noise.levels],
    }
    body = b"".join(drawn.astype("<i8").tobytes() for drawn in noise.drawn)
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + body


def from_bytes(state: bytes, mechanism: Mechanism, length: int, coarse: int) -> RootNoise:
    """Read the noise that ``to_bytes`` wrote.

    Raises ``InvalidInput`` for bytes that are no such state; whether they are the newest, only
    the caller who stored them knows.
    """
    try:
        line, body = state.split(b"\n", 1)
        header = json.loads(line)
        version, step = header["version"], int(header["step"])
        levels = [Fraction(level) for level in header["levels"]]
        vectors = np.frombuffer(body, dtype="<i8").astype(np.int64)
        drawn = vectors.reshape(len(levels), step, int(header["dimension"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("These bytes are not the state of a square-root stream.") from error
    if version != VERSION or not levels or step > length:
        raise InvalidInput("This state is of another version or another length.")
    return RootNoise(mechanism, length, coarse, levels, list(drawn))
