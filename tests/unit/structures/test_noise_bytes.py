"""Test that noise is written as a line and vectors, and read back as it was."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from penstock.structures import noise_bytes


@dataclass(frozen=True)
class Noise:
    step: int
    dimension: int
    levels: list[Fraction]


NOISE = Noise(3, 2, [Fraction(1, 3), Fraction(2)])
VECTORS = [np.array([1, -2], dtype=np.int64), np.array([2**62, 0], dtype=np.int64)]


def test_what_was_written_is_read_and_its_format_is_fixed() -> None:
    state = noise_bytes.joined(NOISE, VECTORS, version=1, nodes=[5])
    assert state == (
        b'{"version":1,"step":3,"dimension":2,"levels":["1/3","2"],"nodes":[5]}\n'
        + b"".join(number.to_bytes(8, "little", signed=True) for number in (1, -2, 2**62, 0))
    )
    header, levels, integers = noise_bytes.parted(state)
    assert (header["step"], header["nodes"], levels) == (3, [5], NOISE.levels)
    assert integers.tolist() == [1, -2, 2**62, 0]


@pytest.mark.parametrize(
    "state", [b"", b"no line", b"{}\n", b"[]\n", b'{"levels":["x"]}\n', b'{"levels":["1"]}\n123']
)
def test_other_bytes_are_not_read(state: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        noise_bytes.parted(state)
