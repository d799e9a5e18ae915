"""What a keeper of keys must be able to do: a file, a hardware module, a service."""

from dataclasses import dataclass
from typing import Protocol

from penstock.encryption.key import Key


@dataclass(frozen=True)
class Health:
    """What a provider has: the public names of its keys, in hexadecimal."""

    provider: str
    primary: str
    keys: tuple[str, ...]


class KeyProvider(Protocol):
    """Wraps the keys of datasets under keys of its own, which never leave it.

    ``context`` says what the wrapped key is for and must be equal when it is unwrapped.
    Every method raises ``KeysUnavailable`` with the next step where the provider cannot
    be used or lacks the key, ``unwrap`` and ``rewrap`` raise ``IntegrityViolation`` where
    what they are given does not authenticate.
    """

    def wrap(self, key: Key, context: bytes) -> bytes:
        """``key`` under the primary key."""

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """The key that was wrapped, under whichever key of the provider."""

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """The same key under the primary key; ``wrapped`` itself where it is already."""

    def health(self) -> Health:
        """That the provider can wrap and unwrap now, and with which keys."""
