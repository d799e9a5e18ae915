"""Test that whatever is done to sealed rows, none is taken for what it is not."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from penstock.encryption import (
    Key,
    RowIdentity,
    new_query_dek,
    unwrap_query_dek,
)
from penstock.encryption.envelope import OVERHEAD, TAG_SIZE
from penstock.encryption.vectors import open_vector, seal_vector
from penstock.errors import IntegrityViolation
from penstock.randomness import Stream

TRIALS = 4000
LENGTH = 5

Seal = Callable[[Key, NDArray[np.int64], RowIdentity], bytes]
Open = Callable[[Key, bytes, RowIdentity], NDArray[np.int64]]


@dataclass(frozen=True)
class Row:
    """Hold a stored row: what the reader believes of it, its key, and what is in the column."""

    key: Key
    identity: RowIdentity
    envelope: bytes


class Chooser:
    """Draw whole numbers below a bound, from a stream of a known key."""

    def __init__(self, key: bytes) -> None:
        self._words = iter(Stream.from_key(key).raw_uint64(64 * TRIALS).tolist())

    def below(self, bound: int) -> int:
        return int(next(self._words)) % bound


def rows(seal: Seal) -> list[Row]:
    found = []
    for dataset in ("flights@1", "flights@2"):
        kek = Key.fresh()
        for query in ("by carrier", "by origin"):
            dek = unwrap_query_dek(kek, new_query_dek(kek, dataset, query), dataset, query)
            for seq, level in enumerate((4000, 5000, 4500)):
                identity = RowIdentity(
                    table="release",
                    dataset=dataset,
                    query=query,
                    level=level,
                    seq=seq,
                    length=LENGTH,
                    type="int64",
                )
                values = np.arange(LENGTH, dtype=np.int64) * (level + seq)
                found.append(Row(dek, identity, seal(dek, values, identity)))
    return found


def flip(row: Row, _: Row, choose: Chooser) -> Row:
    envelope = bytearray(row.envelope)
    for _flip in range(1 + choose.below(3)):
        bit = choose.below(8 * len(envelope))
        envelope[bit // 8] ^= 1 << bit % 8
    return replace(row, envelope=bytes(envelope))


def truncate(row: Row, _: Row, choose: Chooser) -> Row:
    return replace(row, envelope=row.envelope[: choose.below(len(row.envelope))])


def behead(row: Row, _: Row, choose: Chooser) -> Row:
    return replace(row, envelope=row.envelope[1 + choose.below(len(row.envelope) - 1) :])


def extend(row: Row, _: Row, choose: Chooser) -> Row:
    extra = bytes(choose.below(256) for _ in range(1 + choose.below(16)))
    return replace(row, envelope=row.envelope + extra)


def cut_a_value(row: Row, _: Row, choose: Chooser) -> Row:
    start = len(row.envelope) - TAG_SIZE - 8 * (1 + choose.below(LENGTH))
    return replace(row, envelope=row.envelope[:start] + row.envelope[start + 8 :])


def overwrite(row: Row, _: Row, choose: Chooser) -> Row:
    start = choose.below(len(row.envelope) - 8)
    word = struct.pack("<q", choose.below(1 << 62))
    return replace(row, envelope=row.envelope[:start] + word + row.envelope[start + 8 :])


def copy(row: Row, other: Row, _: Chooser) -> Row:
    """Return the column of another row: of another level, query or dataset."""
    return replace(row, envelope=other.envelope)


def copy_with_its_key(row: Row, other: Row, _: Chooser) -> Row:
    """Return the column of another row, with the wrapped key of that row's query."""
    return replace(row, envelope=other.envelope, key=other.key)


def relabel(row: Row, other: Row, _: Chooser) -> Row:
    """Return the row's own column, read as another row."""
    return replace(row, identity=other.identity)


def splice(row: Row, other: Row, choose: Chooser) -> Row:
    """Return the first part of one row and the rest of another."""
    place = 1 + choose.below(len(row.envelope) - 1)
    return replace(row, envelope=row.envelope[:place] + other.envelope[place:])


def change_the_level(row: Row, _: Row, choose: Chooser) -> Row:
    return replace(row, identity=replace(row.identity, level=choose.below(9000)))


def change_the_length(row: Row, _: Row, choose: Chooser) -> Row:
    return replace(row, identity=replace(row.identity, length=choose.below(LENGTH)))


SURGERY = (
    flip,
    truncate,
    behead,
    extend,
    cut_a_value,
    overwrite,
    copy,
    copy_with_its_key,
    relabel,
    splice,
    change_the_level,
    change_the_length,
)


def accepted(seal: Seal, open_: Open) -> dict[str, int]:
    """Return how many of ``TRIALS`` altered rows were opened, by what was done to them."""
    choose = Chooser(bytes(range(32)))
    stored = rows(seal)
    counts = dict.fromkeys((act.__name__ for act in SURGERY), 0)
    tried = 0
    while tried < TRIALS:
        act = SURGERY[tried % len(SURGERY)]
        row = stored[choose.below(len(stored))]
        altered = act(row, stored[choose.below(len(stored))], choose)
        if altered == row:
            continue  # the same bit twice, or a row copied onto itself
        tried += 1
        try:
            open_(altered.key, altered.envelope, altered.identity)
        except IntegrityViolation:
            continue
        counts[act.__name__] += 1
    return counts


def anonymous(identity: RowIdentity) -> RowIdentity:
    return RowIdentity(table="", dataset="", length=identity.length, type=identity.type)


def seal_anonymously(key: Key, values: NDArray[np.int64], identity: RowIdentity) -> bytes:
    return seal_vector(key, values, anonymous(identity))


def open_anonymously(key: Key, envelope: bytes, identity: RowIdentity) -> NDArray[np.int64]:
    return open_vector(key, envelope, anonymous(identity))


def seal_in_the_clear(_: Key, values: NDArray[np.int64], __: RowIdentity) -> bytes:
    return bytes(OVERHEAD) + values.tobytes()


def open_in_the_clear(_: Key, envelope: bytes, identity: RowIdentity) -> NDArray[np.int64]:
    if len(envelope) != OVERHEAD + 8 * identity.length:
        raise IntegrityViolation("another length")
    return np.frombuffer(envelope[OVERHEAD:], dtype=np.int64)


def test_untouched_rows_open() -> None:
    for row in rows(seal_vector):
        assert open_vector(row.key, row.envelope, row.identity).shape == (LENGTH,)


def test_every_altered_row_is_refused() -> None:
    assert accepted(seal_vector, open_vector) == {act.__name__: 0 for act in SURGERY}


def test_without_identities_copied_rows_would_be_taken() -> None:
    counts = accepted(seal_anonymously, open_anonymously)
    for act in (copy_with_its_key, relabel, change_the_level):
        assert counts[act.__name__] > 0
    assert counts[flip.__name__] == 0


def test_without_authentication_altered_rows_would_be_taken() -> None:
    counts = accepted(seal_in_the_clear, open_in_the_clear)
    for act in (flip, overwrite, copy, splice):
        assert counts[act.__name__] > 0
