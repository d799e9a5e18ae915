"""What callers see of a sparse histogram beside what they see of any query."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AppearanceView:
    """How likely a key with this count is reported."""

    count: int
    probability: float


@dataclass(frozen=True)
class HistogramView:
    """A sparse histogram at one level.

    A key of the ``domain``, which has ``size`` of them, is reported where its noisy count is
    above ``threshold``.  So keys with small counts are missing, ``false_keys`` keys of count
    0 are expected to be there at most, and a reported count is more likely too large than
    too small: errors are those of a key's noise before it is known whether it appears.
    ``appears`` tells the chance by the count, up to one near 1.
    """

    domain: dict[str, Any]
    size: float
    threshold: float
    false_keys: float
    appears: list[AppearanceView]
