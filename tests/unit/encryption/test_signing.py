"""Test the key that signs checkpoints: wrapped for its public half, and loaded for no other."""

import copy

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from penstock.encryption.key import Key
from penstock.encryption.providers import KeyProvider
from penstock.encryption.signing import SigningKey, signing_context
from penstock.errors import IntegrityViolation


def test_what_was_stored_of_a_key_is_loaded_and_signs_alike(provider: KeyProvider) -> None:
    made, wrapped = SigningKey.create(provider)
    loaded = SigningKey.load(provider, made.public, wrapped)
    signature = loaded.sign(b"a checkpoint")
    assert signature == made.sign(b"a checkpoint")
    assert len(signature) == 64
    public = Ed25519PublicKey.from_public_bytes(made.public)
    public.verify(signature, b"a checkpoint")
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"another")


def test_a_key_is_loaded_under_its_own_name_alone(provider: KeyProvider) -> None:
    _, wrapped = SigningKey.create(provider)
    other, _ = SigningKey.create(provider)
    with pytest.raises(IntegrityViolation):
        SigningKey.load(provider, other.public, wrapped)
    # Also where somebody has wrapped it under the other's name.
    with pytest.raises(IntegrityViolation, match="under the name of another one"):
        SigningKey.load(
            provider, other.public, provider.wrap(Key.fresh(), signing_context(other.public))
        )


def test_a_signing_key_shows_its_public_half_only(provider: KeyProvider) -> None:
    made, _ = SigningKey.create(provider)
    assert repr(made) == f"SigningKey(public={made.public.hex()})"
    with pytest.raises(TypeError, match="not serialized"):
        copy.copy(made)
