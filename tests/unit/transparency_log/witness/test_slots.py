"""Test the two slots of the witness's file: whatever a power cut tears, one record stays whole."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.transparency_log.witness.earlier import in_a_file

from penstock.transparency_log import sights
from penstock.transparency_log.sights import Sight, Unauthentic
from penstock.transparency_log.witness import slots
from penstock.transparency_log.witness.slots import BLOCK, KnownRecords

KEY, OTHER = b"k" * 32, b"o" * 32
SIGHTS = [
    Sight(size, hashlib.sha256(bytes([size])).digest(), {"a@1/1": (size, 0)})
    for size in range(1, 9)
]
"""What is seen, one after the other."""


def slot(sequence: int, size: int = BLOCK, *, settled: bool = True) -> bytes:
    """Return a slot with the sight of that number."""
    content = slots.filled(SIGHTS[sequence], sequence, size, KEY)
    assert content is not None
    return content[: -slots.MARK_SIZE] + slots.mark(sequence) if settled else content


def cuts(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield what can be left of ``before`` when ``after`` was being written over it.

    The first bytes, or the last ones, or some sectors.
    """
    for end in range(len(after) + 1):
        yield after[:end] + before[end:]
        yield before[:end] + after[end:]
    for kept in range(256):
        parts = [
            (after if kept >> number & 1 else before)[number * 512 : (number + 1) * 512]
            for number in range(8)
        ]
        yield b"".join(parts)


def lost(write: Callable[[bytes, int], tuple[int, bytes]]) -> list[int]:
    """Return how far back each cut takes that loses what was answered.

    ``write`` says which slot the next record goes into, of a file with the records 3 and 4, and
    what it is.
    """
    content = slot(3) + slot(4)
    number, record = write(content, 5)
    found = []
    halves = [content[:BLOCK], content[BLOCK:]]
    for torn in cuts(halves[number], record):
        left = [*halves[:number], torn, *halves[number + 1 :]]
        try:
            seen = slots.read(b"".join(left), [KEY]).sight
        except (Unauthentic, *slots.INVALID):
            found.append(4)
            continue
        if seen not in SIGHTS[4:6]:
            found.append(4 - SIGHTS.index(seen))
    return found


def test_a_write_that_is_torn_anywhere_loses_nothing_that_was_answered() -> None:
    def write(content: bytes, sequence: int) -> tuple[int, bytes]:
        return 1 - slots.read(content, [KEY]).number, slot(sequence, settled=False)

    assert lost(write) == []


def test_one_slot_alone_loses_it() -> None:
    """The variant that writes over the newest record."""

    def write(content: bytes, sequence: int) -> tuple[int, bytes]:
        return slots.read(content, [KEY]).number, slot(sequence, settled=False)

    assert lost(write)


def test_the_newest_whole_record_counts_in_whichever_slot() -> None:
    for content in (slot(3) + slot(4), slot(4) + slot(3)):
        found = slots.read(content, [KEY])
        assert (found.sight, found.sequence, found.is_settled) == (SIGHTS[4], 4, True)
        assert found.is_whole
        assert found.slot == slot(4)
        assert content.index(found.slot) == found.number * BLOCK


def test_a_torn_slot_is_seen() -> None:
    whole = slot(3)
    for torn in (whole[:100] + bytes(BLOCK - 100), bytes(BLOCK), b" " * BLOCK, slot(5)[1:] + b"x"):
        for content in (torn + slot(4), slot(4) + torn):
            found = slots.read(content, [KEY])
            assert (found.sight, found.is_whole) == (SIGHTS[4], False)


def test_two_torn_slots_are_no_witness() -> None:
    half = slot(3)[:200]
    for content in (half.ljust(BLOCK) * 2, bytes(2 * BLOCK), b" " * 2 * BLOCK):
        with pytest.raises(slots.INVALID):
            slots.read(content, [KEY])


def test_a_record_under_another_key_is_none() -> None:
    forged = slots.first(SIGHTS[7], 7, OTHER)
    assert slots.read(forged + slot(4), [KEY]).sight == SIGHTS[4]
    with pytest.raises(Unauthentic, match="does not authenticate"):
        slots.read(forged * 2, [KEY])
    assert slots.read(forged * 2, [KEY, OTHER]).sight == SIGHTS[7]


def test_a_record_that_was_read_before_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It settles meanwhile, and gets a neighbor; whatever differs by a byte is read as if new."""
    known, parsed, parse = KnownRecords(), list[str](), sights.fields_of

    def noted(text: str) -> dict[str, Any]:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(sights, "fields_of", noted)
    first = slots.read(slot(3) + slot(4, settled=False), [KEY], known)
    again = slots.read(slot(3) + slot(4), [KEY], known)
    assert (first.sight, again.sight) == (SIGHTS[4], SIGHTS[4])
    assert (first.is_settled, again.is_settled) == (False, True)
    after = slots.read(slot(5) + slot(4), [KEY], known)
    assert after.sight == SIGHTS[5]
    parsed.clear()
    assert slots.read(slot(5) + slot(4), [KEY], known) == after
    assert parsed == []
    altered = slot(5).replace(b'"size": 6', b'"size": 7')
    assert slots.read(altered + slot(4), [KEY], known).sight == SIGHTS[4]
    with pytest.raises(Unauthentic):
        slots.read(altered * 2, [KEY], known)


def test_a_record_that_was_read_before_is_refused_under_other_keys() -> None:
    known = KnownRecords()
    for _ in range(2):
        assert slots.read(slot(3) + slot(4), [OTHER, KEY], known).sight == SIGHTS[4]
        with pytest.raises(Unauthentic):
            slots.read(slot(3) + slot(4), [OTHER], known)


def test_nobody_without_the_key_makes_an_older_record_the_newest() -> None:
    for before, after in ((b'"sequence": 3', b'"sequence": 5'), (b'"size": 4', b'"size": 9')):
        altered = slot(3).replace(before, after)
        assert altered != slot(3)
        assert slots.read(altered + slot(4), [KEY]).sight == SIGHTS[4]


@pytest.mark.parametrize("sequence", [0, -1, 2**63, 1.0, "1", True, None])
def test_what_is_no_number_of_a_record_is_refused(sequence: object) -> None:
    fields = json.loads(sights.written(SIGHTS[5], KEY, 5, BLOCK))
    del fields["mac"]
    fields["sequence"] = sequence
    record = json.dumps({**fields, "mac": sights._mac(fields, KEY)}).encode().ljust(BLOCK)
    assert slots.read(record + slot(4), [KEY]).sight == SIGHTS[4]
    with pytest.raises(slots.INVALID):
        slots.read(record * 2, [KEY])


def test_a_mark_belongs_to_its_record_alone() -> None:
    """That of the record before may be left where a write was torn, or is not done yet."""
    assert slots.read(slot(3) + slot(4), [KEY]).is_settled
    assert not slots.read(slot(3) + slot(4, settled=False), [KEY]).is_settled
    left = slot(4, settled=False)[: -slots.MARK_SIZE] + slots.mark(2)
    assert not slots.read(slot(3) + left, [KEY]).is_settled


def test_half_of_a_file_is_not_taken_for_one_with_smaller_slots() -> None:
    """Though the record of its first slot is short, and whole."""
    content = slot(3, 4 * BLOCK) + slot(4, 4 * BLOCK)
    assert slots.read(content, [KEY]).sight == SIGHTS[4]
    for end in range(BLOCK, len(content), BLOCK):
        with pytest.raises(slots.INVALID):
            slots.read(content[:end], [KEY])


def test_a_record_gets_the_smallest_slot_that_it_fits_into() -> None:
    sizes = set()
    for count in (1, 300, 600, 3000):
        sight = replace(SIGHTS[1], accounts={f"sites@1/{n}": (n, n) for n in range(count)})
        content = slots.first(sight, 1, KEY)
        assert slots.read(content * 2, [KEY]).sight == sight
        assert len(content) == BLOCK or slots.filled(sight, 1, len(content) // 2, KEY) is None
        sizes.add(len(content))
    assert len(sizes) == 4
    assert all(size % BLOCK == 0 for size in sizes)


def test_a_text_of_an_earlier_version_is_read_at_any_length() -> None:
    """Also where it has the length of two slots."""
    sight = replace(SIGHTS[1], accounts={"a" * count: (count, 1) for count in range(100)})
    content = in_a_file(sight, KEY)
    assert slots.read(content, [KEY]).sight == sight
    assert slots.read(content.ljust(2 * BLOCK * 4), [KEY]).sight == sight
    assert not slots.read(content, [KEY]).is_settled
    with pytest.raises(Unauthentic, match="does not authenticate"):
        slots.read(content, [OTHER])


def test_the_first_version_is_read_where_its_database_is_upgraded_alone() -> None:
    earlier = {"format": "penstock-witness", "version": 1, "size": 0, "root": ""}
    content = json.dumps(earlier).encode()
    with pytest.raises(Unauthentic, match="before witnesses were authenticated"):
        slots.read(content, [KEY])
    assert slots.read_earlier(content) == Sight(0, b"")
    for other in (slot(3) + slot(4), slot(3) + bytes(BLOCK), in_a_file(SIGHTS[1], KEY)):
        assert slots.read_earlier(other) is None
