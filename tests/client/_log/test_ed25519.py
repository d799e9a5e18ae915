"""Test signatures with the standard's examples, and both ways of verifying against each other."""

import sys
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from penstock_client._log import ed25519

Verify = Callable[[bytes, bytes, bytes], bool]
ORDER = 2**252 + 27742317777372353535851937790883648493
EXAMPLES = (
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
            "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
            "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
)
"""RFC 8032, section 7.1, tests 1 and 2: public key, message, signature."""


@pytest.fixture(params=["library", "by hand"])
def verify(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Verify with ``cryptography``, and as if it were not installed."""
    if request.param == "by hand":
        monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    else:
        monkeypatch.setattr(ed25519, "verified_by_hand", None)
    return ed25519.verified


@pytest.mark.parametrize("example", EXAMPLES)
def test_signatures_are_those_of_the_standard(verify: Verify, example: tuple[str, ...]) -> None:
    key, message, signature = map(bytes.fromhex, example)
    assert verify(key, message, signature)
    assert not verify(key, message + b"x", signature)
    for place in (0, 31, 32, 63):
        broken = bytearray(signature)
        broken[place] ^= 1
        assert not verify(key, message, bytes(broken))
    assert not verify(key, message, signature[:-1])
    assert not verify(key[:-1], message, signature)


def test_a_scalar_beyond_the_order_is_refused(verify: Verify) -> None:
    """Otherwise anybody who sees a signature could write a second one of the same message."""
    key, message, signature = map(bytes.fromhex, EXAMPLES[1])
    scalar = int.from_bytes(signature[32:], "little") + ORDER
    assert not verify(key, message, signature[:32] + scalar.to_bytes(32, "little"))


@given(secret=st.binary(min_size=32, max_size=32), message=st.binary(max_size=200), data=st.data())
def test_both_ways_of_verifying_agree(secret: bytes, message: bytes, data: st.DataObject) -> None:
    key = Ed25519PrivateKey.from_private_bytes(secret)
    public, signature = key.public_key().public_bytes_raw(), bytearray(key.sign(message))
    assert ed25519.verified_by_hand(public, message, bytes(signature))
    place = data.draw(st.integers(0, 63))
    signature[place] ^= data.draw(st.integers(1, 255))
    ways = (ed25519.verified, ed25519.verified_by_hand)
    assert not any(verify(public, message, bytes(signature)) for verify in ways)
