"""Represent streams, and ranges of their running totals."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Self

from penstock_client._http.fields import Fields
from penstock_client._show import frames
from penstock_client._show.figures import Figure, figure_of_totals
from penstock_client.errors import NotDrawable, ProtocolError
from penstock_client.figures import printable
from penstock_client.models import Answer, ErrorBars, Guarantee, Level, Receipt, whole
from penstock_client.queries import Query, TierLevel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class StreamTier(TierLevel):
    """Hold a stream's level at one tier; it has totals from step ``first`` on.

    ``error`` is that of the newest total.  ``first`` is None if the dataset was shredded.
    """

    first: int | None

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the first step."""
        return {"first": fields.integer_or_none("first")}


@dataclass(frozen=True, kw_only=True)
class Stream(Query):
    """Represent a query whose data arrive over time, with the tiers that the caller may see.

    ``dimension`` is how many numbers an element has.  ``next`` is the number of the next
    element, None if the stream is full; ``length`` is None if the stream has no end.
    """

    tiers: tuple[StreamTier, ...] = field(kw_only=False)
    length: int | None
    next: int | None

    @classmethod
    def tier_kind(cls) -> type[StreamTier]:
        """Return the class of its tiers, which have a first step."""
        return StreamTier

    @classmethod
    def more(cls, fields: Fields) -> dict[str, Any]:
        """Read the stream's length and the number of its next element."""
        return {name: fields.integer_or_none(name) for name in ("length", "next")}

    @property
    def following(self) -> int:
        """Return the number after that of the newest element, even if the stream is full."""
        return (self.length or 0) + 1 if self.next is None else self.next


@dataclass(frozen=True)
class Pushed:
    """Hold the result of a push: the stream has the elements ``first`` to ``last``.

    ``skipped`` of them were there before, because the push was repeated; ``next`` is the number
    of the next element, None if the stream is full.
    """

    stream: str
    first: int
    last: int
    next: int | None
    skipped: int = 0


@dataclass(frozen=True)
class RunningTotal:
    """Hold the totals after element ``t``, one for each number of an element."""

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
    """Hold the running totals of a range of steps, at one tier.  They never change.

    Iterating yields a ``RunningTotal`` for each step, in order.  ``days`` are those (UTC) on which
    a schedule added the elements, one for each step; none where they are not known.
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
    days: tuple[date, ...] = field(default=(), repr=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        items = tuple(map(RunningTotal.read, fields.children("items")))
        if not items or [item.t for item in items] != list(range(items[0].t, items[-1].t + 1)):
            raise ProtocolError(f"The answer's {fields.where}.items are not consecutive steps.")
        days = fields.days_or_none("days")
        if days and len(days) != len(items):
            raise ProtocolError(f"The answer's {fields.where}.days are not one for each step.")
        return cls(
            stream=fields.text("stream"),
            dataset=fields.text("dataset"),
            tier=fields.text("tier"),
            mechanism=fields.text("mechanism"),
            level=Level.read(fields.child("level")),
            guarantee=Guarantee.read(fields.child("guarantee")),
            asserted_by=fields.text_or_none("asserted_by"),
            released_at=fields.moment("released_at"),
            receipt=Receipt.read(fields.child("receipt")),
            items=items,
            answer=whole(fields),
            days=days,
        )

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[RunningTotal]:
        return iter(self.items)

    def figure(self, stream: Stream | None = None, *, number: int = 0) -> Figure:
        """Return the figure that the page of the stream has of these totals.

        ``stream``, one of ``Client.streams``, gives its title, and how its totals share noise:
        without it the figure has no values of steps.  Of elements of several numbers, ``number``
        chooses one of the first six, from 0.  Raises ``InvalidArgument`` for another stream or
        number, and ``NotDrawable`` for numbers that no chart can show.
        """
        return figure_of_totals(self, stream, number)

    def _repr_html_(self) -> str:
        try:
            return self.figure().html()
        except NotDrawable:
            return f"<p>{escape(printable(repr(self)))}</p>"

    def to_pandas(self) -> "pd.DataFrame":
        """Return a pandas frame: ``total``, ``standard_deviation``, ``half_width`` by step ``t``.

        Elements of several numbers have ``total_1``, ``total_2`` ... instead.  ``attrs``
        describes the totals.  Raises ``MissingExtra`` if pandas is not installed.
        """
        return frames.pandas_of_totals(self)

    def to_polars(self) -> "pl.DataFrame":
        """Return a polars frame: ``t`` and the columns of ``to_pandas``.

        Raises ``MissingExtra`` if polars is not installed.
        """
        return frames.polars_of_totals(self)

    def to_arrow(self) -> "pa.Table":
        """Return an Arrow table; the schema's metadata have the rest of the answer as JSON.

        Raises ``MissingExtra`` if pyarrow is not installed.
        """
        return frames.arrow_of_totals(self)
