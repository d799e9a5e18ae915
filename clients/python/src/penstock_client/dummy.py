"""Represent made-up rows of a dataset's declared columns, to try code on."""

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
    """Hold made-up rows with the declared columns and types; they reveal nothing about the data.

    Each row maps columns to cells, None for a missing one; dates are texts.
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
        """Return a pandas frame.  Raises ``MissingExtra`` if pandas is not installed."""
        frame: pd.DataFrame = library("pandas", "to_pandas").DataFrame(self._columns())
        return frame

    def to_polars(self) -> "pl.DataFrame":
        """Return a polars frame.  Raises ``MissingExtra`` if polars is not installed."""
        frame: pl.DataFrame = library("polars", "to_polars").DataFrame(self._columns())
        return frame

    def to_arrow(self) -> "pa.Table":
        """Return an Arrow table.  Raises ``MissingExtra`` if pyarrow is not installed."""
        return library("arrow", "to_arrow").table(self._columns())

    def _columns(self) -> dict[str, list[object]]:
        names = {name: None for row in self.rows for name in row}
        return {name: [row.get(name) for row in self.rows] for name in names}
