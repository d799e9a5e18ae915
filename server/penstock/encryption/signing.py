"""Hold the key that signs the log's checkpoints: Ed25519 (RFC 8032), wrapped by the provider."""

from typing import NoReturn, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from penstock.encryption.envelope import RowIdentity
from penstock.encryption.key import Key
from penstock.encryption.providers import KeyProvider
from penstock.errors import IntegrityViolation


class SigningKey:
    """Hold a private key that is never shown; ``public`` is the public half, of 32 bytes."""

    def __init__(self, key: Key) -> None:
        with key.exposed() as material:
            self._key = Ed25519PrivateKey.from_private_bytes(material)
        self.public = self._key.public_key().public_bytes_raw()

    @classmethod
    def create(cls, provider: KeyProvider) -> tuple[Self, bytes]:
        """Return a new key, and what to store of it.  Raises ``KeysUnavailable``."""
        key = Key.fresh()
        made = cls(key)
        return made, provider.wrap(key, signing_context(made.public))

    @classmethod
    def load(cls, provider: KeyProvider, public: bytes, wrapped: bytes) -> Self:
        """Return the key whose public half is ``public``.

        Raises ``KeysUnavailable``, and ``IntegrityViolation`` for a key that was altered.
        """
        signing_key = cls(provider.unwrap(wrapped, signing_context(public)))
        if signing_key.public != public:
            raise IntegrityViolation(
                "The key that signs the log is stored under the name of another one."
                " Restore the database from a backup."
            )
        return signing_key

    def sign(self, message: bytes) -> bytes:
        """Return a signature of 64 bytes."""
        return self._key.sign(message)

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not serialized; wrap it")


def signing_context(public: bytes) -> bytes:
    """Return the context that binds a wrapped signing key to its public half."""
    return RowIdentity(table="log_key", dataset=public.hex(), length=1, type="ed25519").encode()
