"""Describe streams and their totals, as sent and as returned; their terms are those of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.models import MOST_KEYS, AssertedSensitivity
from penstock.services.schemas.estimates.covariance import TotalsCovarianceView
from penstock.services.schemas.levels import Level
from penstock.services.schemas.queries import MOST_LEVELS, Terms
from penstock.services.schemas.views import (
    ErrorView,
    GuaranteeView,
    LevelView,
    SensitivityView,
    Values,
)
from penstock.services.schemas.wordings.wordings import (
    StatisticWordingView,
    WordingChange,
    is_wording,
)
from penstock.spec_fields import Name, Number, Spec, each_once
from penstock.transparency_log.views import ReceiptView

MOST_STEPS = 2**40
MOST_STEPS_OF_A_UNIT = 2**20
LARGEST_ARITY = 1000
DEFAULT_STREAM_LEVELS = 64
"""Fewer than a query's: readers choose no levels of streams, and each is charged for its draws."""

Structure = Literal["binary", "kary", "smooth_binary", "sqrt", "buffered", "auto"]


class StreamRequest(Terms):
    """Represent a stream to open: its elements, its protection, and the level of each tier.

    ``sensitivity`` is how much one privacy unit changes one element, ``max_steps_per_unit``
    in how many elements it is at most; the server relies on the caller for both.  ``length`` is
    the largest number of elements, null for no end.  ``bound`` is the largest absolute number in
    an element.  ``k`` is the arity of the k-ary tree; one of 3 or more also subtracts nodes,
    except for Laplace noise at a delta above 0, where named trees only add.  For Gaussian noise
    ``sqrt`` has less error than trees, for few steps, and stores all numbers; ``buffered`` has
    nearly the same for any length and without an end, and stores few.  ``auto`` is the one with the
    least mean squared error, ``sqrt`` up to 1024 steps only.  For Laplace noise at a delta above 0
    whose levels are all given by ``epsilon`` it is the better of the tree that adds and the tree
    that subtracts, which is charged its pure epsilon; where the budgets lack room, the former.
    """

    name: Name
    dataset: Name
    mechanism: Literal["gaussian", "laplace"]
    structure: Structure = "auto"
    k: int | None = Field(default=None, ge=2, le=LARGEST_ARITY)
    length: int | None = Field(ge=1, le=MOST_STEPS)
    dimension: int = Field(default=1, ge=1, le=MOST_KEYS)
    step: Number = 1
    bound: Number = 2**31
    sensitivity: AssertedSensitivity = AssertedSensitivity(l1=1)
    max_steps_per_unit: int | None = Field(default=None, ge=1, le=MOST_STEPS_OF_A_UNIT)
    max_levels: int = Field(default=DEFAULT_STREAM_LEVELS, ge=1, le=MOST_LEVELS)

    @model_validator(mode="after")
    def _require_structure_fields(self) -> "StreamRequest":
        if self.k is not None and self.structure != "kary":
            raise PydanticCustomError(
                "structure", "The field k is allowed only with structure kary.", {"field": "k"}
            )
        if self.length is None and self.structure == "smooth_binary":
            raise PydanticCustomError(
                "structure",
                "A smooth_binary tree needs a length, for example 365; give one, or choose"
                " another structure.",
                {"field": "length"},
            )
        if self.structure == "sqrt" and (self.length is None or self.mechanism != "gaussian"):
            raise PydanticCustomError(
                "structure",
                "The structure sqrt needs gaussian noise and a length, for example 365; choose a"
                " tree if you have neither.",
                {"field": "structure"},
            )
        if self.structure == "buffered" and self.mechanism != "gaussian":
            raise PydanticCustomError(
                "structure",
                "The structure buffered needs gaussian noise; choose a tree for laplace.",
                {"field": "structure"},
            )
        if self.length is None and self.structure == "kary" and self.k is None:
            raise PydanticCustomError(
                "structure",
                "Without a length the best k is unknown; give k, for example 4.",
                {"field": "k"},
            )
        return self


def _elements(value: object) -> list[object]:
    """Return the list that was sent; ``stream_elements`` alone checks its content."""
    if not isinstance(value, list):
        raise PydanticCustomError("list_type", "This must be a list.")
    return value


class ElementsRequest(Spec):
    """Represent the next elements: numbers, or rows of numbers for a dimension above 1.

    A ``from`` other than the next number is answered with the next number, so none is invalid.
    """

    first: int = Field(alias="from")
    values: Annotated[
        list[object],
        PlainValidator(_elements),
        WithJsonSchema(
            {
                "type": "array",
                "minItems": 1,
                "items": {
                    "anyOf": [
                        {"type": "number"},
                        {"type": "array", "items": {"type": "number"}, "minItems": 1},
                    ]
                },
            }
        ),
        Field(exclude=True, repr=False),
    ]


class StreamChange(Spec):
    """Represent new levels of a stream by tier, from the next element on; others stay."""

    levels: Annotated[
        dict[Name, Level], Field(min_length=1, max_length=1000), BeforeValidator(each_once)
    ]


def _kind_of_change(value: object) -> str:
    return "<texts>" if is_wording(value) else "<levels>"


StreamOrTextsChange = Annotated[
    Annotated[StreamChange, Tag("<levels>")] | Annotated[WordingChange, Tag("<texts>")],
    Discriminator(_kind_of_change),
]
"""A change of a stream: of its levels, or of its texts for readers."""


@dataclass(frozen=True)
class StreamTierView:
    """Hold a stream's level at one tier, with what it means.

    ``level`` is that of one node of weight 1, ``error`` that of the newest total (before
    the first element of the first); totals of steps before ``first`` are not given at it.
    ``first`` is null if the dataset was shredded, and no totals are given any more.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    first: int | None


@dataclass(frozen=True)
class StreamView(StatisticWordingView):
    """Hold a stream, down to the tiers that the caller may see.

    ``sensitivity`` is that of all nodes to one privacy unit, which is charged; ``next`` the number
    of the next element, null if no more fit; ``largest_total`` the largest absolute value of a
    running total.
    """

    name: str
    dataset: str
    dataset_version: int
    mechanism: str
    structure: dict[str, Any]
    status: str
    length: int | None
    next: int | None
    dimension: int
    step: float
    bound: float
    largest_total: float
    granularity: float
    sensitivity: SensitivityView
    max_steps_per_unit: int
    asserted_by: str | None
    sentence: str
    spec: dict[str, Any]
    tiers: list[StreamTierView]
    opened_at: datetime


@dataclass(frozen=True)
class PushedView:
    """Hold the first and last number of elements that were taken in, and the next number."""

    stream: str
    first: int
    last: int
    next: int | None
    asserted_by: str | None


@dataclass(frozen=True)
class RunningTotalView:
    """Hold the released running totals after element ``t``; each has this ``error``."""

    t: int
    values: Values
    error: ErrorView


class Totals(Sequence[RunningTotalView]):
    """Present the rows of ``values`` as views, made on access: millions would not fit.

    ``values`` has shape (steps, dimension), ``errors`` one for each step; ``first`` is the
    step of the first row.
    """

    def __init__(
        self, first: int, values: NDArray[np.float64], errors: Sequence[ErrorView]
    ) -> None:
        self.values = values
        self._first, self._errors = first, errors

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, place: int) -> RunningTotalView: ...

    @overload
    def __getitem__(self, place: slice) -> "Totals": ...

    def __getitem__(self, place: int | slice) -> "RunningTotalView | Totals":
        steps = range(self._first, self._first + len(self))[place]
        if isinstance(place, slice):
            return Totals(steps.start, self.values[place], self._errors[place])  # type: ignore[union-attr]  # a slice of a range
        return RunningTotalView(steps, self.values[place], self._errors[place])  # type: ignore[arg-type]  # a place in a range


@dataclass(frozen=True)
class RunningTotalsView:
    """Hold the released running totals of a range of steps.

    ``days`` are those (UTC) on which the elements of a stream that a schedule feeds were added, one
    for each step; null where they are not known, or where two elements have one day.
    """

    stream: str
    dataset: str
    tier: str
    mechanism: str
    level: LevelView
    guarantee: GuaranteeView
    granularity: float
    asserted_by: str | None
    released_at: datetime
    receipt: ReceiptView
    items: Sequence[RunningTotalView]
    covariance: TotalsCovarianceView
    days: Sequence[date] | None
