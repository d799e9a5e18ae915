"""How numbers, times and keys are written on pages."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from penstock.figures import percent, short


class Guarantee(Protocol):
    """Anything with an epsilon and a delta."""

    @property
    def epsilon(self) -> float:
        """The privacy loss."""

    @property
    def delta(self) -> float:
        """But for a chance of this."""


_PADDED = re.compile(r"e([+-])0+", re.ASCII)


def figure(value: float) -> str:
    """A number to three significant digits."""
    return _PADDED.sub(r"e\1", short(float(value)))


def loss(guarantee: Guarantee) -> str:
    """A privacy loss; without its delta where that is 0."""
    delta = f" at delta {figure(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon {figure(guarantee.epsilon)}{delta}"


def whole(value: float) -> str:
    """A count, its thousands apart."""
    return f"{int(value):,}"


def moment(at: datetime) -> str:
    """A time in UTC, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def machine(at: datetime) -> str:
    """A time as programs read it."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


FILTERS: Mapping[str, Callable[..., Any]] = {
    "figure": figure,
    "loss": loss,
    "whole": whole,
    "moment": moment,
    "machine": machine,
    "percent": percent,
}
"""By the names that templates call them."""
