"""Test what a witness keeps: read back whole, and taken from nobody else."""

import json
from pathlib import Path

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.transparency_log.witness.earlier import in_a_file

from penstock.errors import LogUnavailable
from penstock.transparency_log import sights
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.witness import FileWitness, slots
from penstock.transparency_log.witness.slots import BLOCK

KEY = b"k" * 32


SEEN = Sight(3, bytes(range(32)), {"sites@1/1": (5, 7)})


CHANGES: list[dict[str, object]] = [
    {"size": -1},
    {"size": True},
    {"size": 3.0},
    {"size": "3"},
    {"size": None},
    {"size": 2**63},
    {"size": 10**400},
    {"size": float("inf")},
    {"size": 0},
    {"root": ""},
    {"root": "ab" * 31},
    {"root": "xy" * 32},
    {"root": None},
    {"accounts": None},
    {"accounts": []},
    {"accounts": {"a": 1}},
    {"accounts": {"a": [1]}},
    {"accounts": {"a": [1, 2, 3]}},
    {"accounts": {"a": [1, -2]}},
    {"accounts": {"a": [1.5, 2]}},
    {"accounts": {"a": ["1", "2"]}},
    {"format": "other"},
]


def signed(true: bytes, change: dict[str, object]) -> bytes:
    """Return a record with a change that whoever has the key made: its form alone is wrong."""
    fields = json.loads(true)
    changed = {name: value for name, value in {**fields, **change}.items() if name != "mac"}
    return json.dumps({**changed, "mac": sights._mac(changed, KEY)}).encode()


OF_A_SLOT: list[dict[str, object]] = [{"slot_size": 2 * BLOCK}, {"version": 2}, {"version": 4}]
PLAIN = Sight(3, b"\xab" * 32)
CORRUPT = [
    *(b"", b"{", b"[" * 100_000, b"null", b"[]", b"7", b"\xff\xfe", bytes(2 * BLOCK)),
    *(json.dumps({"format": "penstock-witness", "version": n}).encode() for n in (1, 2, 3, 4)),
    *(signed(in_a_file(PLAIN, KEY), change) for change in CHANGES),
    *(
        signed(sights.written(PLAIN, KEY, 1, BLOCK), change).ljust(BLOCK) * 2
        for change in [*CHANGES, *OF_A_SLOT]
    ),
    sights.written(PLAIN, KEY, 1, BLOCK),
]


@pytest.mark.parametrize("content", CORRUPT, ids=lambda content: ascii(content[:90]))
def test_what_the_server_did_not_write_is_no_sight(tmp_path: Path, content: bytes) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    (tmp_path / "log.json").write_bytes(content)
    for act in (witness.seen, lambda: witness.advance(SEEN)):
        with pytest.raises(LogUnavailable):
            act()
    assert (tmp_path / "log.json").read_bytes() == content, "it is not written over"


def test_nobody_without_the_key_writes_a_sight(tmp_path: Path) -> None:
    """Neither one of another key, nor one with any octet changed, nor one of a version before."""
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    path = tmp_path / "log.json"
    witness.start_over(SEEN)
    slot = path.read_bytes()[:BLOCK]
    record = slot.rstrip(b"0123456789 \n")
    fields = {name: value for name, value in json.loads(record).items() if name != "mac"}
    forged = [
        slots.first(SEEN, 1, b"other" * 8),
        in_a_file(SEEN, b"other" * 8),
        json.dumps(fields).encode().ljust(BLOCK),
        json.dumps({**fields, "version": 1}).encode(),
        slot.replace(b'"size": 3', b'"size": 2'),
        slot.replace(b"[5, 7]", b"[0, 0]"),
    ]
    forged += [
        record[:place] + bytes([octet ^ 1]) + slot[place + 1 :]
        for place, octet in enumerate(record)
    ]
    for content in forged:
        path.write_bytes(content * 2)
        try:
            found = witness.seen()
        except LogUnavailable:
            continue
        assert (found, found.suspended_at) == (SEEN, ""), "only white space differs"


def test_a_part_of_what_the_server_wrote_is_no_sight(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.start_over(SEEN)
    assert witness.seen() == SEEN
    whole = (tmp_path / "log.json").read_bytes()
    earlier = in_a_file(SEEN, KEY)
    parts = [whole[:end] for end in range(len(whole))]
    parts += [earlier[:end] for end in range(len(earlier) - 2)]
    for part in parts:
        with pytest.raises((*slots.INVALID, sights.Unauthentic)):
            slots.read(part, [KEY])
    for part in parts[:: len(parts) // 50]:
        (tmp_path / "log.json").write_bytes(part)
        with pytest.raises(LogUnavailable):
            witness.seen()
