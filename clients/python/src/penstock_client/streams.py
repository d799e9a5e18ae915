"""Streams: what they are, and ranges of their running totals."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from penstock_client.errors import ProtocolError
from penstock_client.fields import Fields
from penstock_client.models import Answer, ErrorBars, Guarantee, Level, Receipt, whole


@dataclass(frozen=True)
class StreamTier:
    """A stream's level at one tier; there are totals from step ``first`` on.

    ``error`` is that of the newest total.
    """

    tier: str
    level: Level
    guarantee: Guarantee
    error: ErrorBars
    first: int

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("tier"),
            Level.read(fields.child("level")),
            Guarantee.read(fields.child("guarantee")),
            ErrorBars.read(fields.child("error")),
            fields.integer("first"),
        )


@dataclass(frozen=True)
class Stream:
    """A query whose data arrive over time, down to the tiers that the caller may see.

    ``next`` is the number of its next element, None where no more fit; ``length`` is None
    where it has no end.  ``asserted_by`` names who vouches for its sensitivity.
    """

    name: str
    dataset: str
    mechanism: str
    status: str
    length: int | None
    next: int | None
    dimension: int
    tiers: tuple[StreamTier, ...]
    asserted_by: str | None
    answer: Answer = field(repr=False, compare=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(
            fields.text("name"),
            fields.text("dataset"),
            fields.text("mechanism"),
            fields.text("status"),
            fields.integer_or_none("length"),
            fields.integer_or_none("next"),
            fields.integer("dimension"),
            tuple(map(StreamTier.read, fields.children("tiers"))),
            fields.text_or_none("asserted_by"),
            whole(fields),
        )


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
        if not items or [one.t for one in items] != list(range(items[0].t, items[-1].t + 1)):
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
