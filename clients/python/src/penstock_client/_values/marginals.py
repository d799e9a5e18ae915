"""Hold the tables of a release for marginals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from penstock_client._http.fields import Fields


@dataclass(frozen=True)
class Marginal:
    """Hold the marginal of ``columns``: the noisy number of rows of each cell.

    A cell's key has a part for each of the columns.  ``reported`` has the cells in the forms that
    were asked for, and is empty without any; ``values`` are always the raw ones, in which the
    marginals of a release agree with each other to the last digit.
    """

    columns: tuple[str, ...]
    values: Mapping[tuple[str, ...], float] = field(repr=False)
    standard_deviation: float
    reported: Mapping[tuple[str, ...], float] = field(default_factory=dict, repr=False)

    @classmethod
    def read_all(cls, fields: Fields) -> tuple[Self, ...]:
        """Return the marginals of a release; none from a server that has none."""
        if fields.whole.get("marginals") is None:
            return ()
        return tuple(cls._read(each) for each in fields.children("marginals"))

    @classmethod
    def _read(cls, fields: Fields) -> Self:
        cells = [(cell.texts("key"), cell) for cell in fields.children("cells")]
        values = {key: cell.number("value") for key, cell in cells}
        formed = {key: cell.number_or_none("reported") for key, cell in cells}
        deviations = {cell.number("standard_deviation") for _, cell in cells}
        return cls(
            fields.texts("columns"),
            values,
            max(deviations, default=0.0),
            {key: number for key, number in formed.items() if number is not None},
        )
