"""Test that vectors of 64-bit integers survive their envelope."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.encryption import (
    Key,
    RowIdentity,
    open_envelope,
    seal,
)
from penstock.encryption.envelope import OVERHEAD
from penstock.encryption.vectors import (
    open_vector,
    open_vector_in_pieces,
    seal_vector,
    seal_vector_into,
)
from penstock.errors import IntegrityViolation

KEY = Key(bytes(range(32)))
LARGEST = (1 << 63) - 1


def row(length: int, kind: str = "int64") -> RowIdentity:
    return RowIdentity(
        table="release", dataset="d@1", query="q", level=1, seq=0, length=length, type=kind
    )


@given(st.lists(st.integers(-LARGEST - 1, LARGEST), min_size=1, max_size=50))
def test_every_integer_comes_back(integers: list[int]) -> None:
    values = np.array(integers, dtype=np.int64)
    identity = row(len(integers))
    sealed = seal_vector(KEY, values, identity)
    assert open_vector(KEY, sealed, identity).tolist() == integers
    pieces = (sealed[:60], sealed[60:])
    assert open_vector_in_pieces(KEY, len(sealed), pieces, identity).tolist() == integers


def test_the_bytes_are_little_endian() -> None:
    envelope = seal_vector(KEY, np.array([1, -2], dtype=np.int64), row(2))
    plaintext = open_envelope(KEY, envelope, row(2))
    assert plaintext.hex() == "0100000000000000feffffffffffffff"


def test_what_comes_back_is_the_callers_own() -> None:
    envelope = seal_vector(KEY, np.zeros(3, dtype=np.int64), row(3))
    opened = open_vector(KEY, envelope, row(3))
    opened += 1
    assert open_vector(KEY, envelope, row(3)).tolist() == [0, 0, 0]


def test_a_vector_is_sealed_and_opened_in_places_of_the_callers_choice() -> None:
    values, room = np.arange(4, dtype=np.int64), np.empty(32 + OVERHEAD, dtype=np.uint8)
    seal_vector_into(KEY, values, row(4), room)
    place = np.empty(100, dtype=np.uint8)
    opened = open_vector(KEY, room.data, row(4), lambda size: place[:size])
    assert opened.tolist() == [0, 1, 2, 3]
    assert np.shares_memory(opened, place)
    with pytest.raises(ValueError, match="does not take"):
        seal_vector_into(KEY, values, row(4), room[:-1])


def test_a_vector_that_is_not_contiguous_is_sealed_as_it_reads() -> None:
    values = np.arange(20, dtype=np.int64)[::2]
    assert open_vector(KEY, seal_vector(KEY, values, row(10)), row(10)).tolist() == values.tolist()


def test_a_read_only_vector_is_sealed() -> None:
    values = np.arange(4, dtype=np.int64)
    values.flags.writeable = False
    assert open_vector(KEY, seal_vector(KEY, values, row(4)), row(4)).tolist() == [0, 1, 2, 3]


def test_another_length_shape_or_type_is_refused_before_sealing() -> None:
    with pytest.raises(ValueError, match="says 3 values"):
        seal_vector(KEY, np.zeros(2, dtype=np.int64), row(3))
    with pytest.raises(ValueError, match="says 4 values"):
        seal_vector(KEY, np.zeros((2, 2), dtype=np.int64), row(4))
    with pytest.raises(ValueError, match="of type int64"):
        seal_vector(KEY, np.zeros(2, dtype=np.int32), row(2))
    with pytest.raises(ValueError, match="of type int64"):
        seal_vector(KEY, np.zeros(2, dtype=np.int64), row(2, "float64"))


def test_a_row_of_another_length_is_refused_even_if_it_authenticates() -> None:
    envelope = seal(KEY, bytes(15), row(2))
    with pytest.raises(IntegrityViolation, match="does not hold 2 values"):
        open_vector(KEY, envelope, row(2))
    with pytest.raises(IntegrityViolation, match="does not hold 2 values"):
        open_vector_in_pieces(KEY, len(envelope), [envelope], row(2))


def test_a_million_values_are_not_copied_more_than_the_envelope_needs() -> None:
    values = np.arange(10**6, dtype=np.int64)
    identity = row(10**6)
    tracemalloc.start()
    envelope = seal_vector(KEY, values, identity)
    sealing = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    found = open_vector(KEY, envelope, identity)
    opening = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert np.array_equal(found, values)
    assert sealing < 1.1 * values.nbytes  # the envelope
    assert opening < 1.1 * values.nbytes  # the plaintext, of which the array is a view
