"""Declare quantiles of a column, which are read from counts of its values in bins."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from penstock.errors import InvalidInput
from penstock.spec_fields import ColumnName, Number, Spec

MOST_PROBABILITIES = 100
MOST_BINS = 4096
DEFAULT_BINS = 1024
MOST_NODES = 1_000_000
"""The most numbers of a query, which are a third more than its groups have bins."""

QUARTILES = (0.25, 0.5, 0.75)


def _within(probability: float) -> float:
    if not 0 < probability < 1:
        raise PydanticCustomError(
            "probability", "This must be above 0 and below 1, for example 0.5 for the median."
        )
    return float(probability)


def _rising(probabilities: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sorted(set(probabilities)))


def _several(value: object) -> object:
    return [value] if isinstance(value, int | float) else value


Probability = Annotated[Number, AfterValidator(_within)]

Probabilities = Annotated[
    tuple[Probability, ...],
    Field(strict=False, min_length=1, max_length=MOST_PROBABILITIES),
    AfterValidator(_rising),
    BeforeValidator(
        _several,
        json_schema_input_type=Annotated[
            list[Probability], Field(min_length=1, max_length=MOST_PROBABILITIES)
        ]
        | Probability,
    ),
]
"""Probabilities between 0 and 1, both excluded; one alone needs no list around it."""


_ADAPTER: TypeAdapter[tuple[float, ...]] = TypeAdapter(Probabilities)


def probabilities_in(text: str) -> tuple[float, ...]:
    """Return probabilities separated by commas; none of an empty text.  Raises ``InvalidInput``."""
    if not text.strip():
        return ()
    try:
        return _ADAPTER.validate_python([float(part) for part in text.split(",")])
    except (ValidationError, ValueError):
        raise InvalidInput(
            f"Probabilities are up to {MOST_PROBABILITIES} numbers above 0 and below 1, separated"
            " by commas, such as 0.1, 0.5, 0.9.",
            pointer="/probabilities",
        ) from None


class Quantiles(Spec):
    """The quantiles of a column over each group, and its distribution function.

    Values are cut to ``lower`` and ``upper``, by default the column's own, and counted in ``bins``
    bins of one width.  With the scale ``log`` bins are between powers of two, of either sign, and
    no bounds are needed.  Quantiles of other ``probabilities`` are read from the same releases.
    ``whole`` is True if values are whole numbers, which a column of integers has.
    """

    type: Literal["quantiles"]
    column: ColumnName
    probabilities: Probabilities = QUARTILES
    lower: Number | None = None
    upper: Number | None = None
    bins: Annotated[int, Field(ge=2, le=MOST_BINS)] | None = None
    scale: Literal["linear", "log"] = "linear"
    whole: bool | None = None
