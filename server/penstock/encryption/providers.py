"""Define what a provider of keys does: a file, a hardware module, a service.

A provider has a wrapping key of its own for every *context*: for each version of a dataset,
and for each key that signs the log.  What it destroys of one context is lost forever, in
the database's backups as well, and nothing else is.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from penstock.encryption.key import Key


@dataclass(frozen=True)
class Health:
    """Hold what a provider has: the public names of its keys, in hexadecimal."""

    provider: str
    keys: tuple[str, ...]


class KeyProvider(Protocol):
    """Wrap keys under keys of its own, which never leave it.

    ``context`` says what the wrapped key is for and must be equal when it is unwrapped.
    Every method raises ``KeysUnavailable`` with the next step where the provider cannot
    be used or lacks the key, ``unwrap`` and ``rewrap`` raise ``IntegrityViolation`` where
    what they are given does not authenticate.
    """

    def wrap(self, key: Key, context: bytes) -> bytes:
        """Return ``key`` under the newest key of ``context``, which is made where it has none."""

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """Return the key that was wrapped, under whichever key of the provider."""

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key wrapped under the context's newest; ``wrapped`` where it is already."""

    def renew(self, context: bytes) -> str:
        """Make a new key, under which ``context`` is wrapped from now on.  Returns its name."""

    def keys_of(self, context: bytes) -> tuple[str, ...]:
        """Return the names of the keys of ``context``, the newest last."""

    def shared(self) -> tuple[str, ...]:
        """Return the keys that are of no context: those of rings from before contexts had any."""

    def drop(self, names: Collection[str]) -> tuple[str, ...]:
        """Forget keys by name.  Returns the names of those that there were.

        What is still wrapped under them is lost.
        """

    def destroy(self, context: bytes) -> tuple[str, ...]:
        """Forget every key of ``context``, and so what was wrapped for it.  Returns their names."""

    def health(self) -> Health:
        """Return that the provider can wrap and unwrap now, and with which keys."""
