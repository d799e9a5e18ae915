"""What callers send about sparse histograms beside the terms of any query."""

from typing import Annotated

from pydantic import BeforeValidator, Discriminator, Field, Tag

from penstock.connectors.specs.fields import Name, each_once

DEFAULT_HISTOGRAM_LEVELS = 16
MOST_HISTOGRAM_LEVELS = 64
"""Each level makes the next one dearer to draw, and is charged whether it is drawn or not."""

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
"""How many keys of count 0 a tier expects to see, one number for all tiers or one for each."""
