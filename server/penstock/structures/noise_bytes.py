"""Write noise as bytes and read it back: a line of JSON, then vectors as little-endian ``int64``.

The bytes are as secret as the noise: callers encrypt them before they store them.
"""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Noise(Protocol):
    """Describe the noise of a stream after some steps, at every level."""

    @property
    def step(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def levels(self) -> Sequence[Fraction]: ...


def joined(
    noise: Noise, vectors: Iterable[NDArray[np.int64]], *, version: int, **more: object
) -> bytes:
    """Write noise and its vectors; ``more`` are further fields of the line."""
    header = {
        "version": version,
        "step": noise.step,
        "dimension": noise.dimension,
        "levels": [str(level) for level in noise.levels],
        **more,
    }
    body = b"".join(vector.astype("<i8").tobytes() for vector in vectors)
    return json.dumps(header, separators=(",", ":")).encode() + b"\n" + body


def parted(state: bytes) -> tuple[dict[str, Any], list[Fraction], NDArray[np.int64]]:
    """Return the line, the levels in it, and all integers that follow.

    Raises ``ValueError``, ``KeyError`` or ``TypeError`` for bytes that are nothing of that kind.
    """
    line, body = state.split(b"\n", 1)
    header = json.loads(line)
    levels = [Fraction(level) for level in header["levels"]]
    return header, levels, np.frombuffer(body, dtype="<i8").astype(np.int64)
