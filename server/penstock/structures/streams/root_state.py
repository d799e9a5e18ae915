"""Write the noise of a square-root stream as bytes and read it back.

So it outlives its process.  The format is that of ``noise_bytes``, with every level's noise, step
by step.
"""

from penstock.errors import InvalidInput
from penstock.mechanisms.process import Mechanism
from penstock.structures.noise_bytes import joined, parted
from penstock.structures.streams.root_noise import RootNoise

VERSION = 1


def to_bytes(noise: RootNoise) -> bytes:
    """Write the whole state except for mechanism, length and lattice, which are public."""
    return joined(noise, noise.drawn, version=VERSION)


def from_bytes(state: bytes, mechanism: Mechanism, length: int, coarse: int) -> RootNoise:
    """Read the noise that ``to_bytes`` wrote.

    Raises ``InvalidInput`` for bytes that are no such state; whether they are the newest, only
    the caller who stored them knows.
    """
    try:
        header, levels, integers = parted(state)
        version, step = header["version"], int(header["step"])
        drawn = integers.reshape(len(levels), step, int(header["dimension"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("These bytes are not the state of a square-root stream.") from error
    if version != VERSION or not levels or step > length:
        raise InvalidInput("This state is of another version or another length.")
    return RootNoise(mechanism, length, coarse, levels, list(drawn))
