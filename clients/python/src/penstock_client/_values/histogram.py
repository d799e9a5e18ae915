"""What a sparse histogram tells beside the keys that stand out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from penstock_client._http.fields import Fields


@dataclass(frozen=True)
class Histogram:
    """A count over all keys of a ``domain``, of which those above a threshold are released.

    Keys with small counts are missing; ``false_keys`` keys of count 0 are expected to be
    there at most.  ``size`` is how many keys the domain has.  ``appears`` tells how likely a
    key is there, by its count, up to one that is all but sure.
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
                each.integer("count"): each.number("probability")
                for each in fields.children("appears")
            },
        )

    @classmethod
    def read_from(cls, fields: Fields) -> Self | None:
        """That of a release or a tier; ``None`` where the query is no sparse histogram."""
        child = fields.child_or_none("histogram")
        return None if child is None else cls.read(child)
