"""Read error bars value by value, of a release whose values have different errors."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from penstock_client._http.fields import Fields
from penstock_client.errors import ProtocolError
from penstock_client.models import ErrorBars


@dataclass(frozen=True)
class ValueErrors:
    """Hold the errors of each value, at the confidence that the release states.

    The server sends them with counts that it protected together; their last value, or the
    last one of each group, is the number of rows or units.  Iterating yields error bars.
    """

    confidence: float
    standard_deviations: tuple[float, ...] = field(repr=False)
    half_widths: tuple[float, ...] = field(repr=False)

    @classmethod
    def read(cls, fields: Fields, size: int, confidence: float) -> Self:
        errors = cls(confidence, fields.vector("standard_deviations"), fields.vector("half_widths"))
        vectors = {
            "standard_deviations": errors.standard_deviations,
            "half_widths": errors.half_widths,
        }
        for name, vector in vectors.items():
            if len(vector) != size or not all(entry > 0 for entry in vector):
                raise ProtocolError(
                    f"The answer's {fields.where}.{name} does not have a positive number for each"
                    f" of {size} values."
                )
        return errors

    def __iter__(self) -> Iterator[ErrorBars]:
        for deviation, width in zip(self.standard_deviations, self.half_widths, strict=True):
            yield ErrorBars(deviation, self.confidence, width)
