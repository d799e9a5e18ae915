"""Test manifests: whole, of one row, and refused in every other form."""

from dataclasses import replace

import pytest

from penstock.encryption.envelope import RowIdentity
from penstock.encryption.key import Key
from penstock.errors import IntegrityViolation
from penstock.services.noise.long_vectors import manifest as manifests
from penstock.services.noise.long_vectors.manifest import MAGIC, Manifest, root_of

HASHES = tuple(f"{number:064x}" for number in range(3))
MANIFEST = Manifest("a" * 32, 3, 8, 20, 1, HASHES, root_of(HASHES))
PLACE = RowIdentity(
    table="release", dataset="d@1", query="q", level=4, seq=2, length=20, type="chunks"
)
QUERY_KEY, CHUNK_KEY = Key(bytes(32)), Key(b"k" * 32)


@pytest.fixture
def stored() -> bytes:
    return manifests.sealed(MANIFEST, CHUNK_KEY, QUERY_KEY, PLACE)


def test_a_manifest_opens_in_its_row(stored: bytes) -> None:
    assert manifests.is_manifest(stored)
    manifest, key = manifests.opened(stored, QUERY_KEY, PLACE)
    assert manifest == MANIFEST == manifests.public_part(stored)
    assert key.material == CHUNK_KEY.material


@pytest.mark.parametrize(
    "other",
    [{"level": 5}, {"seq": 3}, {"query": "other"}, {"dataset": "d@2"}, {"length": 40}],
)
def test_it_opens_in_no_other_row(stored: bytes, other: dict[str, object]) -> None:
    with pytest.raises(IntegrityViolation):
        manifests.opened(stored, QUERY_KEY, replace(PLACE, **other))  # type: ignore[arg-type]


def test_it_opens_under_no_other_key(stored: bytes) -> None:
    with pytest.raises(IntegrityViolation):
        manifests.opened(stored, CHUNK_KEY, PLACE)


def test_a_part_of_a_manifest_is_refused(stored: bytes) -> None:
    """A row that was half written, wherever it ends."""
    for end in range(len(stored)):
        with pytest.raises(IntegrityViolation):
            manifests.opened(stored[:end], QUERY_KEY, PLACE)


def test_any_altered_byte_is_refused(stored: bytes) -> None:
    for place in range(len(MAGIC), len(stored)):
        altered = stored[:place] + bytes([stored[place] ^ 1]) + stored[place + 1 :]
        with pytest.raises(IntegrityViolation):
            manifests.opened(altered, QUERY_KEY, PLACE)


@pytest.mark.parametrize(
    "change",
    [
        {"attempt": "b" * 32},
        {"hashes": HASHES[::-1], "root": root_of(HASHES[::-1])},
        {"chunk": 7},
        {"attempt": 5},
        {"hashes": (*HASHES[:2], 7)},
    ],
)
def test_a_public_part_that_another_wrote_is_refused(
    stored: bytes, change: dict[str, object]
) -> None:
    forged = replace(MANIFEST, **change)  # type: ignore[arg-type]
    public = forged.public()
    start = len(MAGIC) + 4 + len(MANIFEST.public())
    whole = MAGIC + len(public).to_bytes(4, "big") + public + stored[start:]
    with pytest.raises(IntegrityViolation):
        manifests.opened(whole, QUERY_KEY, PLACE)


def test_the_root_depends_on_order_number_and_content() -> None:
    roots = {root_of(HASHES), root_of(HASHES[::-1]), root_of(HASHES[:2]), root_of(HASHES[1:])}
    assert len(roots) == 4
