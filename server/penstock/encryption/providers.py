"""Define the interface of a key provider: a file, a hardware module, a service.

A provider has a separate wrapping key for every *context*: for each version of a dataset, and for
each key that signs the log.  When it destroys the keys of one context, everything wrapped under
them is lost permanently, in the database's backups too, and nothing else is.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Protocol

from penstock.encryption.key import Key


@dataclass(frozen=True)
class Health:
    """Hold the public names of a provider's keys, in hexadecimal."""

    provider: str
    keys: tuple[str, ...]


class KeyProvider(Protocol):
    """Wrap keys under the provider's own keys, which never leave it.

    ``context`` says what the wrapped key is for and must be equal when it is unwrapped. Every
    method raises ``KeysUnavailable`` with the next step if the provider cannot be used or lacks the
    key; ``unwrap`` and ``rewrap`` raise ``IntegrityViolation`` if a wrapped key does not
    authenticate.
    """

    def wrap(self, key: Key, context: bytes) -> bytes:
        """Wrap ``key`` under the newest key of ``context``, which is made if there is none."""

    def unwrap(self, wrapped: bytes, context: bytes) -> Key:
        """Unwrap a key, under any key of the provider."""

    def rewrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key wrapped under the context's newest; unchanged if it already is."""

    def renew(self, context: bytes) -> str:
        """Make a new key for ``context``, its newest from now on; return its name."""

    def keys_of(self, context: bytes) -> tuple[str, ...]:
        """Return the names of the keys of ``context``, the newest last."""

    def shared(self) -> tuple[str, ...]:
        """Return the keys that belong to no context, of rings made before contexts had keys."""

    def drop(self, names: Collection[str]) -> tuple[str, ...]:
        """Delete keys by name; return the names of those that existed.

        What is still wrapped under them is lost.
        """

    def destroy(self, context: bytes) -> tuple[str, ...]:
        """Delete every key of ``context`` and all that was wrapped for it; return their names."""

    def version(self) -> Hashable:
        """Return what is another value after any of its keys was made or destroyed.

        A provider that cannot tell this for less than unwrapping a key takes always returns the
        same: then what other programs destroy there counts when kept keys are dropped
        (``services.kept_keys``).
        """

    def health(self) -> Health:
        """Check that the provider can wrap and unwrap now, and return its keys."""
