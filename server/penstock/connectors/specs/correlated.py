"""Declare counts that are protected together, with less noise than separate counts."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.connectors.specs.models import MOST_UNITS, ComputedQuery

LARGEST_TRADE_OFF = 2.0**20


class CorrelatedQuery(ComputedQuery):
    """Hold the data half of counts over columns, or over groups that share units.

    The number of rows or units is released as well.  ``trade_off`` (``C``) is how much of the noise
    goes to the counts and not to that number; by default it is best for the counts.  ``known_size``
    is that number if it is public: it is not released then, and the counts have half the standard
    deviation of separate noise.
    """

    structure: Literal["correlated"]
    trade_off: Annotated[float, Field(gt=0, le=LARGEST_TRADE_OFF)] | None = None
    known_size: Annotated[int, Field(ge=0, le=MOST_UNITS)] | None = None

    @model_validator(mode="after")
    def _known_or_traded(self) -> "CorrelatedQuery":
        if self.trade_off is not None and self.known_size is not None:
            raise PydanticCustomError(
                "structure",
                "A known size is not released, so there is nothing to trade off; leave out"
                " trade_off or known_size.",
            )
        return self
