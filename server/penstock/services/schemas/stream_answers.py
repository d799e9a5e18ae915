"""What the services of streams answer with; field names are part of the public API."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from penstock.services.schemas.views import (
    ErrorView,
    GuaranteeView,
    LevelView,
    SensitivityView,
    Values,
)
from penstock.transparency_log.views import ReceiptView


@dataclass(frozen=True)
class StreamTierView:
    """A stream's level at one tier, with what it means.

    ``level`` is that of one node of weight 1, ``error`` that of the newest total (before
    the first element of the first); totals of steps before ``first`` are not given at it.
    ``first`` is null where the dataset was shredded, and no totals are given any more.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    first: int | None


@dataclass(frozen=True)
class StreamView:
    """A stream, down to the tiers that the caller may see.

    ``sensitivity`` is that of all nodes to one privacy unit, what is charged; ``next`` the
    number of the next element, null where no more fit; ``largest_total`` how far from 0 a
    running total may get.
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
    spec: dict[str, Any]
    tiers: list[StreamTierView]
    opened_at: datetime


@dataclass(frozen=True)
class PushedView:
    """Elements that were taken in: their first and last number, and the next one."""

    stream: str
    first: int
    last: int
    next: int | None
    asserted_by: str | None


@dataclass(frozen=True)
class RunningTotalView:
    """The released running totals after element ``t``; ``error`` is that of each number."""

    t: int
    values: Values
    error: ErrorView


class Totals(Sequence[RunningTotalView]):
    """The rows of ``values`` as views, made when they are looked at: millions would not fit.

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
    """The released running totals of a range of steps, whole."""

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
