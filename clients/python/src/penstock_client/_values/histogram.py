"""Read the threshold of a sparse histogram, and how likely a key is to be released."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from penstock_client._http.fields import Fields


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
