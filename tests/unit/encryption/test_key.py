"""Test that a key shows its name only, is of one size, and derives what the standard says."""

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from penstock.encryption import Key

KEY = Key(bytes(range(32)))


def test_a_key_shows_its_name_only() -> None:
    for shown in (repr(KEY), str(KEY), f"{KEY}", repr([KEY]), repr({"key": KEY})):
        assert KEY.id.hex() in shown
        assert KEY.material.hex() not in shown
        assert repr(KEY.material) not in shown


def test_a_key_is_not_serialized() -> None:
    with pytest.raises(TypeError, match="wrap it"):
        KEY.__reduce__()


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_key_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match=f"not {size}"):
        Key(bytes(size))


def test_fresh_keys_differ() -> None:
    assert len({Key.fresh().id for _ in range(100)}) == 100


def test_hkdf_gives_the_published_answer() -> None:
    """RFC 5869, test case 3, stretched to what ``Key`` asks: another input length."""
    okm = HKDF(algorithm=SHA256(), length=42, salt=b"", info=b"").derive(b"\x0b" * 22)
    assert okm.hex().startswith("8da4e775a563c18f715f802a063c5a31")
    mine = Key(b"\x0b" * 32).subkey(bytes(32), b"info")
    again = HKDF(algorithm=SHA256(), length=32, salt=bytes(32), info=b"info").derive(b"\x0b" * 32)
    assert mine == again


def test_a_key_is_overwritten_with_the_last_reference_to_it() -> None:
    key = Key.fresh()
    copy = key.material
    with key.exposed() as buffer:
        pass
    assert bytes(buffer) == copy != bytes(32)
    del key
    assert bytes(buffer) == bytes(32)
    assert copy != bytes(32)
