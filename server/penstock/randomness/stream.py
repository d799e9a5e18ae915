"""Make one cryptographic stream of random bits for every release.

A stream is ChaCha20 (Bernstein 2008) under its own key, drawn from the operating
system.  A fresh key for every release means that forked workers and cloned machines do
not repeat each other's noise, and that a memory dump does not reveal old noise.

Two keystreams with different nonces run under the key, so that no block is used
twice: numpy's samplers read one through ``randomgen``, bulk bits come from the other
through ``cryptography``, which makes them an order of magnitude faster.
"""

import os
from collections.abc import Callable
from typing import Any, NoReturn, Self

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from numpy.random import Generator
from numpy.typing import NDArray
from randomgen import ChaCha

from penstock.errors import InvalidInput, PenstockError

KEY_BYTES = 32
ROUNDS = 20
GENERATOR_NONCE = bytes(16)
RAW_NONCE = bytes(8) + (1).to_bytes(8, "little")
"""Block counter (8 bytes) and nonce (8 bytes); ``randomgen`` fixes that of the generator."""

_ZEROS = bytes(1 << 18)


class Stream:
    """Yield random bits, and numpy's samplers over them, for one release in one process.

    Do not share it between threads: the draws of each would depend on the schedule.  Long vectors
    are drawn on up to ``threads`` threads, each from streams of its own (``pieces``).  A draw may
    put its result into ``room``, memory that is at hand.
    """

    __slots__ = ("_generator", "_key", "_process", "_raw", "_room", "threads")

    def __init__(
        self, key: bytes, threads: int = 1, *, room: NDArray[np.int64] | None = None
    ) -> None:
        if len(key) != KEY_BYTES:
            raise InvalidInput(f"A stream's key has {KEY_BYTES} bytes, this one has {len(key)}.")
        if threads < 1:
            raise InvalidInput(f"A draw takes at least one thread, not {threads}.")
        self._key = key
        self._generator: Generator | None = None
        self._raw = Cipher(ChaCha20(key, RAW_NONCE), mode=None).encryptor()
        self._process = os.getpid()
        self.threads = threads
        self._room = room

    @classmethod
    def fresh(cls, entropy: Callable[[int], bytes] = os.urandom, *, threads: int = 1) -> Self:
        """Return an unpredictable stream, keyed by the operating system.

        Raises ``InvalidInput`` for less than one thread.
        """
        return cls(entropy(KEY_BYTES), threads)

    @classmethod
    def from_key(cls, key: bytes, *, threads: int = 1) -> Self:
        """Return the stream of a known key of 32 bytes: for tests, never for noise.

        Raises ``InvalidInput`` for a key of another length, and for less than one thread.
        """
        return cls(key, threads)

    @property
    def generator(self) -> Generator:
        """Return numpy's samplers over this stream.

        Raises ``PenstockError`` in any process but the one that made the stream: after
        a fork, both sides would draw the same noise.
        """
        self._refuse_other_process()
        if self._generator is None:
            # Only now: it takes longer to make than the rest, and many streams yield raw bits only.
            self._generator = _generator(self._key)
        return self._generator

    def room_for(self, size: int) -> NDArray[np.int64]:
        """Return where a draw puts ``size`` integers: into the room, if it has that size, once."""
        room, self._room = self._room, None
        return np.empty(size, dtype=np.int64) if room is None or len(room) != size else room

    def raw_into(self, out: NDArray[Any]) -> None:
        """Fill the contiguous array ``out`` with the next raw bits, whatever its type."""
        self._refuse_other_process()
        raw: CipherContext = self._raw
        if not out.size:
            return
        room = out.data.cast("B")
        zeros = memoryview(_ZEROS)
        for start in range(0, room.nbytes, len(_ZEROS)):
            piece = room[start : start + len(_ZEROS)]
            raw.update_into(zeros[: piece.nbytes], piece)

    def raw_uint64(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words of 64 raw bits, shape ``(count,)``."""
        words = np.empty(count, dtype=np.uint64)
        self.raw_into(words)
        return words

    def raw_uint32(self, count: int) -> NDArray[np.uint32]:
        """Return the next ``count`` words of 32 raw bits, shape ``(count,)``."""
        words = np.empty(count, dtype=np.uint32)
        self.raw_into(words)
        return words

    def _refuse_other_process(self) -> None:
        if os.getpid() != self._process:
            raise PenstockError(
                f"This stream belongs to process {self._process}, and process {os.getpid()}"
                " requested noise from it; make a fresh stream after a fork."
            )

    def __repr__(self) -> str:
        return "Stream()"

    def __reduce__(self) -> NoReturn:
        # copy and pickle expect a TypeError from objects that they must not handle.
        raise TypeError("A stream is never copied or serialized: a copy would repeat its noise.")


def _generator(key: bytes) -> Generator:
    # randomgen takes integers only; little-endian makes it ChaCha20's own key words.
    words = ChaCha(key=int.from_bytes(key, "little"), rounds=ROUNDS)
    # The same bits. Its vector instructions compute one block after the other, with two
    # instructions for a rotation: its plain code does several at once, in half of the time.
    words.use_simd = False
    return Generator(words)
