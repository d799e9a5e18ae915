"""Read the threshold of a sparse histogram, and how likely a key is to be released."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Self

from penstock_client._http.fields import Fields, Key
from penstock_client.errors import InvalidArgument

HASHED = "sha256_64"
DIGITS = 16


@dataclass(frozen=True)
class Histogram:
    """Hold the settings of a sparse histogram: counts over all keys of a ``domain``.

    Only keys whose noisy count exceeds ``threshold`` are released, so keys with small counts
    are missing.  At most ``false_keys`` keys of count 0 are expected in a release.  ``size`` is
    the number of keys in the domain.  ``appears`` maps a key's count to the probability that
    the key is released, up to a probability close to 1.
    """

    domain: Mapping[str, object]
    size: float
    threshold: float
    false_keys: float
    appears: Mapping[int, float] = field(repr=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.child("domain").whole,
            fields.positive("size"),
            fields.number("threshold"),
            fields.positive("false_keys"),
            {
                child.integer("count"): child.number("probability")
                for child in fields.children("appears")
            },
        )

    @classmethod
    def read_from(cls, fields: Fields) -> Self | None:
        """Read the settings in a release or a tier; return None if there are none."""
        child = fields.child_or_none("histogram")
        return None if child is None else cls.read(child)

    def texts_of(self, keys: Iterable[Key], texts: Iterable[str]) -> tuple[Key, ...]:
        """Return keys with the text in place of each that is the hash of one of ``texts``.

        Raises ``InvalidArgument`` if the domain's keys are no hashes, or if two of the texts have
        the same one.
        """
        if self.domain.get("type") != HASHED:
            raise InvalidArgument(
                f"The keys are those of the domain {self.domain.get('type')}: they are no hashes of"
                " texts, and stay as they are."
            )
        by_key: dict[Key, str] = {}
        for text in texts:
            key = sha256(text.encode()).hexdigest()[:DIGITS]
            if by_key.setdefault(key, text) != text:
                raise InvalidArgument(
                    f"The texts {by_key[key]!r} and {text!r} have the same key, {key}."
                )
        return tuple(by_key.get(key, key) for key in keys)
