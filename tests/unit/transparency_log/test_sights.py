"""Test what a witness keeps: read back whole, and taken from nobody else."""

import json
from pathlib import Path

import pytest
from tests.databases.homes import PATIENCE

from penstock.errors import LogUnavailable
from penstock.transparency_log import sights
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.witness import FileWitness

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


def written(change: dict[str, object]) -> bytes:
    """A witness with a change that whoever has the key made, so that its form alone is wrong."""
    true = json.loads(sights.written(Sight(3, b"\xab" * 32), KEY))
    changed = {name: value for name, value in {**true, **change}.items() if name != "mac"}
    return json.dumps({**changed, "mac": sights._mac(changed, KEY)}).encode()


CORRUPT = [
    *(b"", b"{", b"[" * 100_000, b"null", b"[]", b"7", b"\xff\xfe"),
    *(json.dumps({"format": "penstock-witness", "version": n}).encode() for n in (1, 2, 3)),
    *map(written, CHANGES),
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
    witness.start_over(SEEN)
    path = tmp_path / "log.json"
    true = path.read_bytes()
    fields = {name: value for name, value in json.loads(true).items() if name != "mac"}
    forged = [
        sights.written(SEEN, b"other" * 8),
        json.dumps(fields).encode(),
        json.dumps({**fields, "version": 1}).encode(),
        true.replace(b'"size": 3', b'"size": 2'),
        true.replace(b"[5, 7]", b"[0, 0]"),
    ]
    forged += [
        true[:place] + bytes([octet ^ 1]) + true[place + 1 :] for place, octet in enumerate(true)
    ]
    for content in forged:
        path.write_bytes(content)
        try:
            found = witness.seen()
        except LogUnavailable:
            continue
        assert (found, found.suspended_at) == (SEEN, ""), "only white space differs"


def test_half_of_what_the_server_wrote_is_no_sight(tmp_path: Path) -> None:
    witness = FileWitness(tmp_path, PATIENCE, lambda: [KEY])
    witness.start_over(SEEN)
    assert witness.seen() == SEEN
    whole = (tmp_path / "log.json").read_bytes()
    for end in range(len(whole) - 2):
        (tmp_path / "log.json").write_bytes(whole[:end])
        with pytest.raises(LogUnavailable):
            witness.seen()
