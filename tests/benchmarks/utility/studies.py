"""Provide two real data sets that ship inside packages, plotnine and statsmodels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

BINS = 1024
"""Of a median's range: Penstock's bins, and the peers' candidates at their edges."""

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Study:
    """Hold one data set: a column for the median, two for a slope, and codes for the marginals.

    ``columns`` and ``codes`` have shape ``(rows,)``; ``codes`` are below ``sizes``.  ``fractions``
    are where OpenDP's regression compares predictions, as shares of the predictor's bounds.
    """

    name: str
    columns: dict[str, NDArray[np.float64]]
    bounds: dict[str, Bounds]
    median_of: str
    predictor: str
    outcome: str
    fractions: tuple[float, float]
    codes: dict[str, NDArray[np.int64]]

    @property
    def rows(self) -> int:
        """Return the number of rows, which are the privacy units."""
        return len(self.columns[self.median_of])

    @property
    def sizes(self) -> dict[str, int]:
        """Return the number of values of each column of codes."""
        return {name: int(codes.max()) + 1 for name, codes in self.codes.items()}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs of columns of codes, in the order of the two-way tables."""
        return list(combinations(self.codes, 2))

    def edges(self) -> NDArray[np.float64]:
        """Return the edges of the bins of the median's column."""
        return np.linspace(*self.bounds[self.median_of], BINS + 1)

    def rank_error(self, value: float) -> float:
        """Return how far a value is from being a median, in percent of the rows."""
        values = self.columns[self.median_of]
        below, up_to = float(np.mean(values < value)), float(np.mean(values <= value))
        return 100 * max(0.0, below - 0.5, 0.5 - up_to)

    def slope(self) -> float:
        """Return the exact slope of the outcome on the predictor by least squares."""
        found = np.polyfit(self.columns[self.predictor], self.columns[self.outcome], 1)
        return float(found[0])

    def slope_error(self, value: float) -> float:
        """Return how far a slope is from the exact one, in percent of it."""
        return 100 * abs(value / self.slope() - 1)

    def tables(self) -> list[NDArray[np.float64]]:
        """Return the exact two-way tables, each flattened in row-major order."""
        sizes = self.sizes
        return [
            np.bincount(
                self.codes[one] * sizes[other] + self.codes[other],
                minlength=sizes[one] * sizes[other],
            ).astype(np.float64)
            for one, other in self.pairs
        ]

    def tables_error(self, tables: Sequence[ArrayLike]) -> float:
        """Return the mean absolute error of a cell of the two-way tables, in rows."""
        off = [np.abs(np.asarray(a) - b) for a, b in zip(tables, self.tables(), strict=True)]
        return float(np.concatenate(off).mean())

    def write(self, path: Path, label: str) -> None:
        """Write the columns that are asked about to a Parquet file, with a label beside them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        codes = {f"code_{name}": codes for name, codes in self.codes.items()}
        table = pa.table({**self.columns, **codes}).replace_schema_metadata({"label": label})
        pq.write_table(table, path)


def diamonds(folder: Path) -> Study:
    """Return plotnine's 53,940 diamonds: price, carat, quality.  ``folder`` is the package's."""
    table = _read(folder / "data" / "diamonds.csv")
    numbers = {name: table[name].astype(np.float64) for name in ("price", "carat")}
    codes = {name: _labels(table[name]) for name in ("cut", "color", "clarity")}
    codes |= {
        "carats": _binned(table["carat"], [0.5, 1, 1.5, 2]),
        "prices": _binned(table["price"], [1000, 2000, 4000, 8000]),
        "depths": _binned(table["depth"], [60, 61, 62, 63]),
    }
    return Study(
        name="diamonds",
        columns=numbers,
        bounds={"price": (0.0, 20480.0), "carat": (0.0, 6.0)},
        median_of="price",
        predictor="carat",
        outcome="price",
        fractions=(0.05, 0.25),
        codes=codes,
    )


def health_insurance(folder: Path) -> Study:
    """Return statsmodels' 20,190 person-years of RAND's.  ``folder`` is the package's."""
    table = _read(folder / "datasets" / "randhie" / "randhie.csv")
    numbers = {name: table[name].astype(np.float64) for name in ("mdvis", "disea")}
    codes = {name: _labels(table[name]) for name in ("idp", "hlthg", "hlthf", "hlthp", "lncoins")}
    codes |= {
        "limits": _binned(table["physlm"], [0.5]),
        "diseases": _binned(table["disea"], [5, 10, 15, 20, 30]),
        "visits": _binned(table["mdvis"], [1, 2, 4, 8, 16]),
    }
    return Study(
        name="RAND",
        columns=numbers,
        bounds={"mdvis": (0.0, 80.0), "disea": (0.0, 60.0)},
        median_of="disea",
        predictor="disea",
        outcome="mdvis",
        fractions=(0.1, 0.4),
        codes=codes,
    )


STUDIES = {"plotnine": diamonds, "statsmodels": health_insurance}
"""The package that ships each data set."""


def _read(path: Path) -> dict[str, NDArray[np.generic]]:
    with duckdb.connect() as connection:
        return dict(connection.read_csv(str(path)).fetchnumpy())


def _labels(values: NDArray[np.generic]) -> NDArray[np.int64]:
    return np.unique(np.asarray(values).astype(str), return_inverse=True)[1].astype(np.int64)


def _binned(values: NDArray[np.generic], edges: Sequence[float]) -> NDArray[np.int64]:
    return np.digitize(values.astype(np.float64), edges).astype(np.int64)
