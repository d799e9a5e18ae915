"""Made-up rows of a dataset's declared schema, to try code on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from penstock_client._http.fields import Fields
from penstock_client._show.frames import library

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Dummy:
    """Rows that nobody gave: of the right columns and types, and telling nothing.

    Each row maps columns to cells, None where one is missing; dates are texts.
    """

    dataset: str
    rows: tuple[Mapping[str, object], ...] = field(repr=False)

    @classmethod
    def read(cls, fields: Fields, dataset: str) -> Self:
        rows = (MappingProxyType(dict(row.whole)) for row in fields.children("items"))
        return cls(dataset, tuple(rows))

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> "pd.DataFrame":
        """A frame with one row for each.  Raises ``MissingExtra`` without pandas."""
        frame: pd.DataFrame = library("pandas", "to_pandas").DataFrame(self._columns())
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """The same of polars.  Raises ``MissingExtra`` without it."""
        frame: pl.DataFrame = library("polars", "to_polars").DataFrame(self._columns())
        return frame

    def to_arrow(self) -> "pa.Table":
        """The same of Arrow.  Raises ``MissingExtra`` without pyarrow."""
        return library("arrow", "to_arrow").table(self._columns())

    def _columns(self) -> dict[str, list[object]]:
        names = {name: None for row in self.rows for name in row}
        return {name: [row.get(name) for row in self.rows] for name in names}
