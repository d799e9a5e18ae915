"""Describe sparse histograms, as sent and as answered, beside the terms of any query."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from penstock.spec_fields import Name, each_once

DEFAULT_HISTOGRAM_LEVELS = 16
MOST_HISTOGRAM_LEVELS = 64
"""The largest number of levels: each makes the next one more expensive to draw, and is charged
whether it is drawn or not."""

MOST_FALSE_KEYS = 1_000_000

Expected = Annotated[float, Field(gt=0, le=MOST_FALSE_KEYS)]


def _kind(value: object) -> str:
    return "<by tier>" if isinstance(value, dict) else "<number>"


FalseKeys = Annotated[
    Annotated[
        dict[Name, Expected],
        Field(min_length=1, max_length=1000),
        BeforeValidator(each_once),
        Tag("<by tier>"),
    ]
    | Annotated[Expected, Tag("<number>")],
    Discriminator(_kind),
]
"""The expected number of keys of count 0 that a tier sees, one for all tiers or one for each."""

FIT: Final = "fit"
MOST_FITTED = 1.0
"""The largest number of false keys that is solved for: more must be requested as a number."""


def _kind_requested(value: object) -> str:
    return "<fit>" if value == FIT else _kind(value)


RequestedFalseKeys = Annotated[
    Annotated[
        dict[Name, Expected],
        Field(min_length=1, max_length=1000),
        BeforeValidator(each_once),
        Tag("<by tier>"),
    ]
    | Annotated[Expected, Tag("<number>")]
    | Annotated[Literal["fit"], Tag("<fit>")],
    Discriminator(_kind_requested),
]
"""The same, or ``fit``: the largest number up to ``MOST_FITTED`` that all budgets allow."""


@dataclass(frozen=True)
class AppearanceView:
    """Hold the probability that a key with this count is reported."""

    count: int
    probability: float


@dataclass(frozen=True)
class HistogramView:
    """Hold a sparse histogram at one level.

    A key of the ``domain``, which has ``size`` of them, is reported if its noisy count is above
    ``threshold``.  So keys with small counts are missing, at most ``false_keys`` keys of count 0
    are expected to appear, and a reported count is more likely too large than too small: errors
    are those of a key's noise before it is known whether it appears.  ``appears`` gives the
    probability of appearing by the count, up to one near 1.
    """

    domain: dict[str, Any]
    size: float
    threshold: float
    false_keys: float
    appears: list[AppearanceView]
