"""Streams: what they are, and ranges of their running totals."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from penstock_client._http.fields import Fields
from penstock_client._show import frames
from penstock_client.errors import ProtocolError
from penstock_client.models import Answer, ErrorBars, Guarantee, Level, Receipt, whole
from penstock_client.queries import Query, TierLevel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class StreamTier(TierLevel):
    """A stream's level at one tier; there are totals from step ``first`` on.

    ``error`` is that of the newest total.  ``first`` is None where the dataset was shredded.
    """

    first: int | None

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """The first step."""
        return {"first": fields.integer_or_none("first")}


@dataclass(frozen=True, kw_only=True)
class Stream(Query):
    """A query whose data arrive over time, down to the tiers that the caller may see.

    ``dimension`` is how many numbers an element has, ``next`` the number of its next
    element, None where no more fit; ``length`` is None where it has no end.
    """

    tiers: tuple[StreamTier, ...] = field(kw_only=False)
    length: int | None
    next: int | None

    @classmethod
    def tier_kind(cls) -> type[StreamTier]:
        """With the first step of each."""
        return StreamTier

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """How long it is, and how far it has come."""
        return {name: fields.integer_or_none(name) for name in ("length", "next")}

    @property
    def following(self) -> int:
        """The number that an element after all that were taken in would have."""
        return (self.length or 0) + 1 if self.next is None else self.next


@dataclass(frozen=True)
class Pushed:
    """Elements that a stream has taken in: the numbers ``first`` to ``last``.

    ``skipped`` of them were there before, as a push was repeated; ``next`` is the number of
    the next one, None where no more fit.
    """

    stream: str
    first: int
    last: int
    next: int | None
    skipped: int = 0


@dataclass(frozen=True)
class RunningTotal:
    """The totals after element ``t``, one for each number of an element."""

    t: int
    values: tuple[float, ...]
    error: ErrorBars

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.integer("t"), fields.vector("values"), ErrorBars.read(fields.child("error"))
        )


@dataclass(frozen=True)
class RunningTotals:
    """The running totals of a range of steps, at one tier.  They never change.

    Iterating gives a ``RunningTotal`` for each step, in order.
    """

    stream: str
    dataset: str
    tier: str
    mechanism: str
    level: Level
    guarantee: Guarantee
    asserted_by: str | None
    released_at: datetime
    receipt: Receipt
    items: tuple[RunningTotal, ...] = field(repr=False)
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        items = tuple(map(RunningTotal.read, fields.children("items")))
        if not items or [item.t for item in items] != list(range(items[0].t, items[-1].t + 1)):
            raise ProtocolError(f"The answer's {fields.where}.items are no range of steps.")
        return cls(
            fields.text("stream"),
            fields.text("dataset"),
            fields.text("tier"),
            fields.text("mechanism"),
            Level.read(fields.child("level")),
            Guarantee.read(fields.child("guarantee")),
            fields.text_or_none("asserted_by"),
            fields.moment("released_at"),
            Receipt.read(fields.child("receipt")),
            items,
            whole(fields),
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[RunningTotal]:
        return iter(self.items)

    def to_pandas(self) -> "pd.DataFrame":
        """A frame indexed by the step ``t``: ``total``, ``standard_deviation``, ``half_width``.

        Elements of several numbers have ``total_1``, ``total_2`` ... instead.  ``attrs`` says
        what the frame is.  Raises ``MissingExtra`` where pandas is not installed.
        """
        return frames.pandas_of_totals(self)

    def to_polars(self) -> "pl.DataFrame":
        """The same columns, ``t`` among them.  Raises ``MissingExtra`` without polars."""
        return frames.polars_of_totals(self)

    def to_arrow(self) -> "pa.Table":
        """The same columns as Arrow, the rest of the answer in the schema's metadata.

        Raises ``MissingExtra`` without pyarrow.
        """
        return frames.arrow_of_totals(self)
