"""Lay out the witness's file as two slots of equal size, which are written in turn.

::

    {"format": "penstock-witness", "version": 3, "sequence": 41, ...}    00000000000000000041
    {"format": "penstock-witness", "version": 3, "sequence": 42, ...}    00000000000000000042

Each slot begins at a multiple of 4096 bytes and holds a record (``sights``), blanks, and a mark.
The record with the highest ``sequence`` counts.  The next one goes into the other slot, so that
a write which a power cut tears destroys at most the older record, and the file never grows: its
sync is one of data alone.  A record says how large its slot is, so that half of a file is not
taken for a whole one.

The mark is the record's number once the record is known to be on the disk.  It is written after
the sync and is not synced itself.  Another number, or none, means that the writer was killed
before, or that the sync failed, or that the power was cut since: then the record may be in memory
alone, and whoever relies on it writes and syncs it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.transparency_log import sights
from penstock.transparency_log.sights import Sight, Unauthentic

BLOCK: Final = 4096
"""The bytes that a slot has a multiple of: a page of memory, and sectors of every usual disk."""

DIGITS: Final = 20
MARK_SIZE: Final = DIGITS + 1

INVALID: Final = (ValueError, KeyError, TypeError, AttributeError)
"""What reading a record raises, beside ``Unauthentic``, for what no server wrote."""


@dataclass(frozen=True)
class Content:
    """Hold what a witness's file says: its newest sight, and the slot that this is in.

    ``number`` is that of the slot, and ``slot`` its bytes; a file of an earlier version has none.
    ``is_settled`` means that the record is known to be on the disk, and ``is_whole`` that no slot
    is torn, or in the middle of being written.
    """

    sight: Sight
    sequence: int = 0
    number: int = 0
    slot: bytes = b""
    is_settled: bool = False
    is_whole: bool = True


class KnownRecords:
    """Remember the last two records that were authentic under one set of keys, by their bytes.

    Every write reads the file, most of what it finds was read before, and a record lists every
    account.  A record with another byte is another one.  Threads may share it.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[bytes, ...], dict[bytes, tuple[int, Sight]]] = ((), {})

    def get(self, record: bytes, keys: Sequence[bytes]) -> tuple[int, Sight] | None:
        """Return the number and the sight of a record that is authentic under exactly these."""
        under, known = self._kept
        return known.get(record) if under == tuple(keys) else None

    def add(self, record: bytes, keys: Sequence[bytes], sequence: int, sight: Sight) -> None:
        """Remember an authentic record, and the newest one before it."""
        under, known = self._kept
        newest = list(known.items())[-1:] if under == tuple(keys) else []
        self._kept = tuple(keys), {**dict(newest), record: (sequence, sight)}


def read(content: bytes, keys: Sequence[bytes], known: KnownRecords | None = None) -> Content:
    """Read the newest record that is whole; ``known`` has those that were read before.

    A text of an earlier version is accepted if it is authenticated.  Raises ``Unauthentic``, and
    those of ``INVALID``.
    """
    halves, known = _halves(content), known or KnownRecords()
    records: list[tuple[int, int, Sight | None, dict[str, Any]]] = []
    is_whole, refused = True, None
    for number, half in enumerate(halves):
        before = known.get(half[:-MARK_SIZE], keys)
        try:
            fields, sequence = ({}, before[0]) if before else _claimed(half)
        except INVALID:
            is_whole = False
        else:
            records.append((sequence, number, before[1] if before else None, fields))
    for sequence, number, sight, fields in sorted(records, key=lambda record: -record[0]):
        half = halves[number]
        if sight is None:
            try:
                sight = sights.authenticated(fields, keys)
            except (Unauthentic, *INVALID) as problem:
                is_whole, refused = False, refused or problem
                continue
            known.add(half[:-MARK_SIZE], keys, sequence, sight)
        is_settled = half.endswith(mark(sequence))
        return Content(sight, sequence, number, half, is_settled, is_whole)
    if refused is not None:
        raise refused
    return Content(sights.read(content.decode(), keys))


def read_earlier(content: bytes) -> Sight | None:
    """Read a text of a version without authentication; return ``None`` for other versions.

    Raises those of ``INVALID``.
    """
    for half in _halves(content):
        try:
            _claimed(half)
        except INVALID:
            continue
        return None
    return sights.read_earlier(content.decode())


def filled(sight: Sight, sequence: int, size: int, key: bytes) -> bytes | None:
    """Return a slot of ``size`` bytes with a record and no mark; ``None`` if it does not fit."""
    record = sights.written(sight, key, sequence, size)
    if len(record) + MARK_SIZE > size:
        return None
    return record.ljust(size - 1) + b"\n"


def first(sight: Sight, sequence: int, key: bytes) -> bytes:
    """Return a slot of the smallest size that the record fits into, doubled from ``BLOCK``."""
    size = BLOCK
    while (slot := filled(sight, sequence, size, key)) is None:
        size *= 2
    return slot


def mark(sequence: int) -> bytes:
    """Return the end of a slot whose record is on the disk."""
    return b"%0*d\n" % (DIGITS, sequence)


def _halves(content: bytes) -> tuple[bytes, ...]:
    size, rest = divmod(len(content), 2)
    if rest or size % BLOCK or not size:
        return ()
    return content[:size], content[size:]


def _claimed(half: bytes) -> tuple[dict[str, Any], int]:
    """Return the fields of a slot's record and its number, before anything is authenticated."""
    fields = sights.fields_of(half[:-MARK_SIZE].decode())
    sequence = fields["sequence"]
    if type(sequence) is not int or not 0 < sequence < 2**63:
        raise ValueError("not the number of a record")
    if fields["slot_size"] != len(half):
        raise ValueError("not in the slot that it was written for")
    return fields, sequence
