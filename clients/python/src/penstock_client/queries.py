"""Represent queries, and the level of each tier."""

from dataclasses import dataclass, field
from typing import Any, Self

from penstock_client._http.fields import Fields
from penstock_client._values.histogram import Histogram
from penstock_client._values.wording import Wording
from penstock_client.models import Answer, Composed, ErrorBars, Guarantee, Level, whole


@dataclass(frozen=True)
class TierLevel:
    """Hold the level, the guarantee and the error that one tier gets of a query.

    ``guarantee`` is that of one release.  ``composed`` is the loss of all levels that the tier
    may see, if these are independent draws.  ``histogram`` is for sparse histograms.
    """

    tier: str
    level: Level
    guarantee: Guarantee
    error: ErrorBars
    composed: Composed | None = None
    histogram: Histogram | None = None

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("tier"),
            Level.read(fields.child("level")),
            Guarantee.read(fields.child("guarantee")),
            ErrorBars.read(fields.child("error")),
            Composed.read_or_none(fields),
            Histogram.read_from(fields),
            **cls.more(fields),
        )

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the fields that a subclass adds."""
        del fields
        return {}


@dataclass(frozen=True)
class Query:
    """Represent a registered statistic, with the tiers that the caller may see.

    ``dimension`` is the number of its values; ``asserted_by`` names who vouches for its
    sensitivity if the server could not derive it.  ``lossless`` is False if levels are
    independent draws, whose losses add up, as with generalized Gaussian noise of power ``p``.
    ``sentence`` says what it counts, as the server generates it; ``wording`` is what people wrote.
    """

    name: str
    dataset: str
    mechanism: str | None
    status: str | None
    dimension: int | None
    tiers: tuple[TierLevel, ...]
    asserted_by: str | None
    answer: Answer = field(repr=False, compare=False)
    p: float | None = None
    lossless: bool = True
    sentence: str | None = None
    wording: Wording = field(default_factory=Wording)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            name=fields.text("name"),
            dataset=fields.text("dataset"),
            mechanism=fields.text_or_none("mechanism"),
            status=fields.text_or_none("status"),
            dimension=fields.integer_or_none("dimension"),
            tiers=tuple(map(cls.tier_kind().read, fields.children_or_none("tiers"))),
            asserted_by=fields.text_or_none("asserted_by"),
            answer=whole(fields),
            p=fields.number_or_none("p"),
            lossless=fields.whole.get("lossless") is not False,
            sentence=fields.text_or_none("sentence"),
            wording=Wording.read(fields),
            **cls.more(fields),
        )

    @classmethod
    def tier_kind(cls) -> type[TierLevel]:
        """Return the class of its tiers."""
        return TierLevel

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the fields that a subclass adds."""
        del fields
        return {}
