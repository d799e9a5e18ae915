"""Write numbers, times and privacy losses on pages."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from penstock.figures import percent, short


class Guarantee(Protocol):
    """Represent anything with an epsilon and a delta."""

    @property
    def epsilon(self) -> float:
        """Return the privacy loss."""

    @property
    def delta(self) -> float:
        """Return the probability that epsilon does not cover."""


_PADDED = re.compile(r"e([+-])0+", re.ASCII)


def figure(value: float) -> str:
    """Return a number to three significant digits; larger ones to the next integer."""
    return _PADDED.sub(r"e\1", short(float(value)))


def loss(guarantee: Guarantee) -> str:
    """Return a privacy loss in words; without its delta if that is 0."""
    delta = f" at delta {figure(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon {figure(guarantee.epsilon)}{delta}"


def whole(value: float) -> str:
    """Return a count with commas between thousands."""
    return f"{int(value):,}"


def moment(at: datetime) -> str:
    """Return a time in UTC, to the minute."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def machine(at: datetime) -> str:
    """Return a time in ISO 8601, in UTC."""
    return at.astimezone(UTC).isoformat(timespec="seconds")


FILTERS: Mapping[str, Callable[..., Any]] = {
    "figure": figure,
    "loss": loss,
    "whole": whole,
    "moment": moment,
    "machine": machine,
    "percent": percent,
}
"""Filters by the names that templates use."""
