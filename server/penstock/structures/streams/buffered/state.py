"""Write the noise of a buffered stream as bytes and read it back.

So it outlives its process.  The format is that of ``noise_bytes``, with the two integers of
every part's buffers and total.
"""

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.structures.noise_bytes import joined, parted
from penstock.structures.streams.buffered.encoder import Encoder
from penstock.structures.streams.buffered.noise import BufferedNoise

VERSION = 1


def to_bytes(noise: BufferedNoise) -> bytes:
    """Write the whole state except for mechanism, encoder and lattice, which are public."""
    return joined(noise, (noise.high, noise.low), version=VERSION)


def from_bytes(state: bytes, mechanism: Gaussian, matrix: Encoder, coarse: int) -> BufferedNoise:
    """Read the noise that ``to_bytes`` wrote.

    Raises ``InvalidInput`` for bytes that are no such state; whether they are the newest, only
    the caller who stored them knows.
    """
    try:
        header, levels, integers = parted(state)
        version, step = header["version"], int(header["step"])
        shape = (2, len(matrix.exponents) + 1, len(levels), int(header["dimension"]))
        high, low = integers.reshape(shape)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput("These bytes are not the state of a buffered stream.") from error
    if version != VERSION or not levels or not 0 <= step <= matrix.length:
        raise InvalidInput("This state is of another version or another length.")
    return BufferedNoise(mechanism, matrix, coarse, levels, step, high, low)
