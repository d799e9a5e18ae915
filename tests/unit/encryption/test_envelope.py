"""Test that the envelope is what its description says, and opens for its row only."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from penstock.encryption import Key, RowIdentity, open_envelope, seal
from penstock.encryption.envelope import (
    OVERHEAD,
    TAG_SIZE,
    Buffer,
    key_id,
    open_into,
    open_pieces_into,
)
from penstock.errors import IntegrityViolation

KEY = Key(bytes(range(32)))
ROW = RowIdentity(
    table="release",
    dataset="flights@1",
    query="by carrier",
    level=4000,
    seq=3,
    length=2,
    type="int64",
)

identities = st.builds(
    RowIdentity,
    table=st.text(max_size=8),
    dataset=st.text(st.characters(exclude_categories=["Cs"]), max_size=64),
    query=st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=64),
    level=st.none() | st.integers(),
    seq=st.none() | st.integers(),
    length=st.integers(),
    type=st.text(max_size=8),
    schema=st.integers(),
)


@given(plaintext=st.binary(max_size=200), identity=identities)
def test_what_was_sealed_comes_back(plaintext: bytes, identity: RowIdentity) -> None:
    envelope = seal(KEY, plaintext, identity)
    assert len(envelope) == len(plaintext) + OVERHEAD
    assert open_envelope(KEY, envelope, identity) == plaintext


@given(one=identities, other=identities)
def test_different_rows_have_different_identities(one: RowIdentity, other: RowIdentity) -> None:
    assert (one.encode() == other.encode()) == (one == other)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_every_buffer_is_sealed_alike(wrap: type[Buffer]) -> None:
    envelope = seal(KEY, wrap(b"abc"), ROW)
    assert open_envelope(KEY, wrap(envelope), ROW) == b"abc"


def test_it_opens_into_the_room_that_it_is_given() -> None:
    envelope = seal(KEY, b"payload", ROW)
    room = bytearray(7 + TAG_SIZE)
    assert open_into(KEY, envelope, ROW, memoryview(room)) == 7
    assert room[:7] == b"payload"
    with pytest.raises(ValueError, match="no room for 7 bytes"):
        open_into(KEY, envelope, ROW, memoryview(room)[1:])
    with pytest.raises(IntegrityViolation, match="was altered"):
        open_into(KEY, envelope[:-1] + bytes([envelope[-1] ^ 1]), ROW, memoryview(room))


def in_pieces(envelope: bytes, first: int, size: int) -> list[bytes]:
    rest = envelope[first:]
    return [envelope[:first], *(rest[at : at + size] for at in range(0, len(rest), size))]


@given(plaintext=st.binary(max_size=60), first=st.integers(54, 130), size=st.integers(1, 40))
def test_it_opens_the_same_in_pieces(plaintext: bytes, first: int, size: int) -> None:
    envelope = seal(KEY, plaintext, ROW)
    room = bytearray(len(plaintext) + TAG_SIZE)
    pieces = in_pieces(envelope, first, size)
    assert open_pieces_into(KEY, len(envelope), pieces, ROW, memoryview(room)) == len(plaintext)
    assert room[: len(plaintext)] == plaintext


def test_pieces_that_do_not_fit_each_other_are_refused() -> None:
    envelope = seal(KEY, b"some plaintext", ROW)
    altered = bytearray(envelope)
    altered[OVERHEAD // 2] ^= 1
    swapped = in_pieces(envelope, 54, 7)
    swapped[1:3] = swapped[2:0:-1]
    room = memoryview(bytearray(len(envelope)))
    for pieces, says in (
        ([bytes(altered)], "was altered"),
        (swapped, "was altered"),
        ([envelope[:-1] + bytes([envelope[-1] ^ 1])], "was altered"),
        ([envelope[:-1]], "is cut short"),
        ([envelope, b"more"], "is cut short"),
        ([envelope[:53]], "is cut short"),
        ([], "is cut short"),
    ):
        with pytest.raises(IntegrityViolation, match=says):
            open_pieces_into(KEY, len(envelope), pieces, ROW, room)
    with pytest.raises(IntegrityViolation, match="is cut short"):
        open_pieces_into(KEY, OVERHEAD - 1, [envelope], ROW, room)
    with pytest.raises(ValueError, match="no room for 14 bytes"):
        open_pieces_into(KEY, len(envelope), [envelope], ROW, room[:29])


def test_an_envelope_follows_its_description() -> None:
    envelope = seal(KEY, b"plaintext", ROW)
    aad = bytes([1, 1]) + KEY.id + ROW.encode()
    assert envelope[:10] == bytes([1, 1]) + KEY.id
    salt, nonce, ciphertext = envelope[10:42], envelope[42:54], envelope[54:]
    subkey = HKDF(algorithm=SHA256(), length=32, salt=salt, info=aad).derive(bytes(range(32)))
    assert AESGCM(subkey).decrypt(nonce, ciphertext, aad) == b"plaintext"
    assert key_id(envelope) == KEY.id


def test_the_identity_of_a_row_is_canonical_json() -> None:
    assert ROW.encode() == (
        b'{"dataset":"flights@1","length":2,"level":4000,"query":"by carrier","schema":1,'
        b'"seq":3,"table":"release","type":"int64"}'
    )


def test_sealing_twice_shares_nothing_but_the_name_of_the_key() -> None:
    one, other = seal(KEY, bytes(64), ROW), seal(KEY, bytes(64), ROW)
    assert one[:10] == other[:10]
    assert one[10:42] != other[10:42]
    assert one[42:54] != other[42:54]
    assert one[54:] != other[54:]


@pytest.mark.parametrize(
    "changes",
    [
        {"table": "dataset"},
        {"dataset": "flights@2"},
        {"query": "by origin"},
        {"query": None},
        {"level": 4001},
        {"seq": 4},
        {"length": 3},
        {"type": "int32"},
        {"schema": 2},
    ],
)
def test_no_other_row_opens_it(changes: dict[str, str | int | None]) -> None:
    envelope = seal(KEY, b"plaintext", ROW)
    other = replace(ROW, **changes)  # type: ignore[arg-type]  # each of its field's type
    with pytest.raises(IntegrityViolation, match="belongs to another row"):
        open_envelope(KEY, envelope, other)


def test_no_other_key_opens_it() -> None:
    envelope = seal(KEY, b"plaintext", ROW)
    other = Key(bytes(32))
    with pytest.raises(IntegrityViolation, match="another key"):
        open_envelope(other, envelope, ROW)
    renamed = envelope[:2] + other.id + envelope[10:]
    with pytest.raises(IntegrityViolation, match="altered"):
        open_envelope(other, renamed, ROW)


@pytest.mark.parametrize("position", [0, 1])
def test_an_unknown_format_is_told(position: int) -> None:
    envelope = bytearray(seal(KEY, b"plaintext", ROW))
    envelope[position] = 2
    with pytest.raises(IntegrityViolation, match="format"):
        open_envelope(KEY, envelope, ROW)


def test_a_refusal_says_what_to_do_and_shows_nothing_of_the_content() -> None:
    envelope = bytearray(seal(KEY, b"a secret", ROW))
    envelope[-1] ^= 1
    with pytest.raises(IntegrityViolation, match="Restore a database") as caught:
        open_envelope(KEY, envelope, ROW)
    assert caught.value.data["query"] == "by carrier"
    assert caught.value.__cause__ is None
