"""Queries, and what each tier gets of one."""

from dataclasses import dataclass, field
from typing import Any, Self

from penstock_client._http.fields import Fields
from penstock_client._values.histogram import Histogram
from penstock_client.models import Answer, Composed, ErrorBars, Guarantee, Level, whole


@dataclass(frozen=True)
class TierLevel:
    """What one tier gets of a query.

    ``guarantee`` is that of one release.  ``composed`` is of all that the tier may see, where
    levels are draws of their own.  ``histogram`` belongs to sparse histograms.
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
        """What a kind of it has besides."""
        del fields
        return {}


@dataclass(frozen=True)
class Query:
    """A registered statistic, down to the tiers that the caller may see.

    ``dimension`` is the number of its values; ``asserted_by`` names who vouches for its
    sensitivity where the server could not derive it.  ``lossless`` is False where levels are
    draws of their own, which add up: those of generalized Gaussian noise of the power ``p``.
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

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("name"),
            fields.text("dataset"),
            fields.text_or_none("mechanism"),
            fields.text_or_none("status"),
            fields.integer_or_none("dimension"),
            tuple(map(cls.tier_kind().read, fields.children_or_none("tiers"))),
            fields.text_or_none("asserted_by"),
            whole(fields),
            fields.number_or_none("p"),
            fields.whole.get("lossless") is not False,
            **cls.more(fields),
        )

    @classmethod
    def tier_kind(cls) -> type[TierLevel]:
        """As what its tiers are read."""
        return TierLevel

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """What a kind of it has besides."""
        del fields
        return {}
