"""Represent made-up rows: of a dataset's declared columns, or with the counts of a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from penstock_client._http.fields import Fields
from penstock_client._show.frames import library

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Frames:
    """Provide the frames of rows that are held by column."""

    def _columns(self) -> Mapping[str, Sequence[object]]:
        raise NotImplementedError

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


@dataclass(frozen=True)
class Dummy(Frames):
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

    def _columns(self) -> Mapping[str, Sequence[object]]:
        names = {name: None for row in self.rows for name in row}
        return {name: [row.get(name) for row in self.rows] for name in names}


@dataclass(frozen=True)
class Fit:
    """Hold how far the shares of a released table are from those of synthetic rows.

    ``distance`` is in total variation: 0 for the same shares.  ``fitted`` is False for a table that
    the model of the rows left out.
    """

    columns: tuple[str, ...]
    distance: float
    fitted: bool


@dataclass(frozen=True)
class SyntheticRows(Frames):
    """Hold rows that were made up to have the counts of a release; none of them is anybody's.

    ``columns`` has the label of each row by column; ``fits`` say how well the rows fit.
    """

    release: str
    query: str
    tier: str
    columns: Mapping[str, tuple[str, ...]] = field(repr=False)
    fits: tuple[Fit, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """Return the rows of a server's answer.  Raises ``ProtocolError``."""
        columns = fields.child("columns")
        return cls(
            release=fields.text("release"),
            query=fields.text("query"),
            tier=fields.text("tier"),
            columns=MappingProxyType({name: columns.texts(name) for name in columns.whole}),
            fits=tuple(
                Fit(
                    each.texts("columns"), each.number("distance"), each.whole.get("fitted") is True
                )
                for each in fields.children("fits")
            ),
        )

    def __len__(self) -> int:
        return max((len(labels) for labels in self.columns.values()), default=0)

    def _columns(self) -> Mapping[str, Sequence[object]]:
        return {name: list(labels) for name, labels in self.columns.items()}
