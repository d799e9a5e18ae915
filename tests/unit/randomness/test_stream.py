import copy
import os
import pickle  # noqa: TID251 - shows that a stream refuses it
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from numpy.typing import NDArray

from penstock.errors import InvalidInput, PenstockError
from penstock.randomness import Stream
from penstock.randomness.stream import RAW_NONCE

KEY = bytes(range(32))
FIRST_BYTES = 32


def test_a_draw_gets_the_room_once_and_only_if_it_fits() -> None:
    room = np.zeros(5, dtype=np.int64)
    stream = Stream(KEY, room=room)
    assert stream.room_for(5) is room
    assert not np.shares_memory(stream.room_for(5), room)
    other = Stream(KEY, room=room).room_for(4)
    assert len(other) == 4
    assert not np.shares_memory(other, room)


_PRINT_FIRST_BYTES = """
from penstock.randomness import Stream
stream = Stream.fresh()
print(stream.raw_uint64(4).tobytes().hex(), stream.generator.bit_generator.random_raw(4))
"""


# The first bytes of both keystreams of a fresh stream in a child process, time after time: out
# of a process that has hardly more than streams in it, so that a fork has little to copy.
_FORKS = """
import os, sys
from penstock.randomness import Stream
read, write = os.pipe()
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        try:
            fresh = Stream.fresh()
            words = fresh.generator.bit_generator.random_raw(4).astype("uint64")
            os.write(write, fresh.raw_uint64(4).tobytes() + words.tobytes())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    print(os.read(read, 64).hex())
"""


# From Python 3.12 on, forking beside threads warns; the runner may have some.
forks = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def _keystream(nonce: bytes, size: int) -> bytes:
    return Cipher(ChaCha20(KEY, nonce), mode=None).encryptor().update(bytes(size))


def _generator_bytes(stream: Stream, words: int) -> bytes:
    raw = stream.generator.bit_generator.random_raw(words)
    return np.asarray(raw, dtype=np.uint64).tobytes()


def test_the_generators_bits_are_chacha20_bit_for_bit() -> None:
    drawn = _generator_bytes(Stream.from_key(KEY), 100_000)
    assert drawn == _keystream(bytes(16), 800_000)


def test_the_raw_bits_are_chacha20_under_a_nonce_of_their_own() -> None:
    stream = Stream.from_key(KEY)
    parts: list[NDArray[Any]] = [
        stream.raw_uint64(50_000),
        stream.raw_uint32(1001),
        stream.raw_uint64(7),
    ]
    joined = b"".join(part.tobytes() for part in parts)
    assert joined == _keystream(RAW_NONCE, len(joined))
    assert joined[:64] not in _keystream(bytes(16), 1 << 20)


def test_raw_bits_fill_arrays_of_any_type() -> None:
    first, second = np.empty(99, dtype=np.int8), np.empty(99, dtype=np.uint8)
    Stream.from_key(KEY).raw_into(first)
    Stream.from_key(KEY).raw_into(second)
    assert first.tobytes() == second.tobytes()
    assert Stream.from_key(KEY).raw_uint64(0).shape == (0,)


def test_fresh_streams_read_32_bytes_of_entropy_each() -> None:
    asked = []

    def entropy(size: int) -> bytes:
        asked.append(size)
        return bytes([len(asked)]) * size

    first, second = Stream.fresh(entropy), Stream.fresh(entropy)
    assert asked == [32, 32]
    assert first.raw_uint64(4).tobytes() != second.raw_uint64(4).tobytes()


@pytest.mark.parametrize("forks", [100, pytest.param(1000, marks=pytest.mark.nightly)])
def test_first_bytes_differ_over_a_thousand_forks(forks: int) -> None:
    command = [sys.executable, "-c", _FORKS, str(forks)]
    forked = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    seen = [bytes.fromhex(line.decode()) for line in forked.stdout.splitlines()]
    assert len(seen) == forks
    assert all(len(bits) == 2 * FIRST_BYTES for bits in seen)
    halves = {bits[:FIRST_BYTES] for bits in seen} | {bits[FIRST_BYTES:] for bits in seen}
    assert len(halves) == 2 * forks


def test_first_bytes_differ_in_two_workers() -> None:
    command = [sys.executable, "-c", _PRINT_FIRST_BYTES]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    printed = [worker.communicate()[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    assert len(set(printed)) == 2


@forks
def test_a_stream_from_before_a_fork_refuses_to_draw_after_it() -> None:
    read, write = os.pipe()
    inherited = Stream.fresh()
    child = os.fork()
    if child == 0:
        try:
            for draw in (lambda: inherited.generator, lambda: inherited.raw_uint64(1)):
                try:
                    draw()
                    os.write(write, b"drew ")
                except PenstockError:
                    os.write(write, b"refused ")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"refused refused "
    os.close(read)
    os.close(write)
    inherited.raw_uint64(1)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_refuses_to_be_copied_or_serialized(duplicate: object) -> None:
    assert callable(duplicate)
    with pytest.raises(TypeError, match="never copied"):
        duplicate(Stream.from_key(KEY))


def test_the_representation_shows_nothing() -> None:
    stream = Stream.from_key(KEY)
    assert repr(stream) == str(stream) == "Stream()"
    assert not hasattr(stream, "__dict__")


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_keys_of_another_length_are_refused(size: int) -> None:
    with pytest.raises(InvalidInput, match=f"this one has {size}"):
        Stream.from_key(bytes(size))
