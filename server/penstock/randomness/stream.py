"""One cryptographic stream of random bits for every release.

A stream is ChaCha20 (Bernstein 2008; RFC 8439 fixes the rounds) under a key of its own.
A fresh key for every release means that forked workers and cloned machines do not
repeat each other's noise, and that a dump of memory does not give old noise away.
"""

import os
from collections.abc import Callable
from typing import NoReturn, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from randomgen import ChaCha

from penstock.errors import InvalidInput, PenstockError

KEY_BYTES = 32
ROUNDS = 20


class Stream:
    """Random bits, and numpy's samplers over them, for one release in one process.

    Not for several threads at once: numpy's samplers lock the generator, the order of
    their draws would still depend on the schedule.
    """

    __slots__ = ("_generator", "_process")

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise InvalidInput(f"A stream's key has {KEY_BYTES} bytes, this one has {len(key)}.")
        # As bytes the key would be refused; little-endian makes it ChaCha20's own key words.
        self._generator = Generator(ChaCha(key=int.from_bytes(key, "little"), rounds=ROUNDS))
        self._process = os.getpid()

    @classmethod
    def fresh(cls, entropy: Callable[[int], bytes] = os.urandom) -> Self:
        """A stream that nobody can predict, keyed by the operating system."""
        return cls(entropy(KEY_BYTES))

    @classmethod
    def from_key(cls, key: bytes) -> Self:
        """The stream of a known key of 32 bytes: for tests, never for noise.

        Raises ``InvalidInput`` for a key of another length.
        """
        return cls(key)

    @property
    def generator(self) -> Generator:
        """numpy's samplers over this stream.

        Raises ``PenstockError`` in any process but the one that made the stream: after
        a fork, both sides would draw the same noise.
        """
        if os.getpid() != self._process:
            raise PenstockError(
                f"This stream belongs to process {self._process}, and process {os.getpid()}"
                " asked for noise; make a fresh stream after a fork."
            )
        return self._generator

    def raw_uint64(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` words of the raw stream, shape ``(count,)``."""
        words: NDArray[np.uint64] = self.generator.bit_generator.random_raw(count)
        return words

    def raw_uint32(self, count: int) -> NDArray[np.uint32]:
        """The next ``count`` half words of the raw stream, shape ``(count,)``.

        They come in the order of the raw bytes; of an odd count the last word's second
        half is thrown away.
        """
        return self.raw_uint64(-(-count // 2)).astype("<u8", copy=False).view("<u4")[:count]

    def __repr__(self) -> str:
        return "Stream()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A stream is never copied or serialized: a copy would repeat its noise.")
