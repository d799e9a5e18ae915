"""Declare counts that are protected together, with less noise than separate counts."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.models import MOST_UNITS, ComputedQuery

LARGEST_TRADE_OFF = 2.0**20


class CorrelatedQuery(ComputedQuery):
    """Hold the data half of counts over columns, or over groups that share units.

    The number of rows or units is released as well, unless ``release_size`` is false: then the
    counts have the least noise that is possible without it.  By default it is released for columns,
    and for groups if a unit is in more than half of them.  ``trade_off`` (``C``) is how much of the
    noise goes to the counts and not to that number; by default it is best for the counts.
    ``known_size`` is that number if it is public: it is not released then, and the counts have half
    the standard deviation of separate noise.
    """

    structure: Literal["correlated"]
    trade_off: Annotated[float, Field(gt=0, le=LARGEST_TRADE_OFF)] | None = None
    known_size: Annotated[int, Field(ge=0, le=MOST_UNITS)] | None = None
    release_size: bool | None = None

    @model_validator(mode="after")
    def _known_or_traded(self) -> "CorrelatedQuery":
        if self.trade_off is not None and self.known_size is not None:
            raise PydanticCustomError(
                "structure",
                "A known size is not released, so there is nothing to trade off; leave out"
                " trade_off or known_size.",
            )
        if self.trade_off is not None and self.release_size is False:
            raise PydanticCustomError(
                "structure",
                "A size that is not released has no trade-off; leave out trade_off or"
                " release_size.",
            )
        if self.known_size is not None and self.release_size:
            raise PydanticCustomError(
                "structure",
                "A known size is not released; leave out known_size or release_size.",
            )
        return self
