"""Convert releases and running totals to tables of pandas, polars and Arrow, each an extra.

A release is a table with one row per key, as the server writes it in CSV, Arrow and Parquet:
``key`` (``key_1``, ``key_2`` ... if keys have several parts), ``value``, and ``lower`` and
``upper`` at the confidence that the server stated; for means also ``centered_sum`` and
``count``, from which each mean was computed, and last the labels that the release was given.
Running totals have one row per step.
"""

import importlib
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock_client._http.fields import Key, Part
from penstock_client._show.shown import Released, ShownRelease, ShownTotals
from penstock_client.errors import MissingExtra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns = dict[str, Sequence[object]]
METADATA = "penstock"
LARGEST_INTEGER = 2**63 - 1
MODULES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
"""The module that each extra installs."""


def columns_of(release: ShownRelease) -> Columns:
    """Return the release's columns by name; each has one cell for each value."""
    interval = release.interval(release.error.confidence)
    columns: Columns = {
        **({"key": release.keys} if unsigned(release) else _key_columns(release.keys)),
        "value": release.values,
        "lower": interval.lower,
        "upper": interval.upper,
    }
    if release.mean is not None:
        columns |= {"centered_sum": release.mean.centered_sums, "count": release.mean.counts}
    for name in [name for name in columns if release.shown_labels and name.startswith("key")]:
        codes = map(str, columns[name])
        columns[f"label{name[3:]}"] = [release.shown_labels.get(code, code) for code in codes]
    return columns


def pandas_of(release: ShownRelease) -> "pd.DataFrame":
    """Return a frame indexed by key; ``attrs`` describes the release."""
    pandas = library("pandas", "to_pandas")
    columns = columns_of(release)
    keys = {name: columns.pop(name) for name in list(columns) if name.startswith("key")}
    kind = "uint64" if unsigned(release) else None
    index = (
        pandas.Index(keys["key"], name="key", tupleize_cols=False, dtype=kind)
        if "key" in keys
        else pandas.MultiIndex.from_arrays(list(keys.values()), names=list(keys))
    )
    frame: pd.DataFrame = pandas.DataFrame(columns, index=index)
    frame.attrs = {
        "release": release.id,
        "query": release.query,
        **_attributes(release),
        "standard_deviation": release.error.standard_deviation,
        "confidence": release.error.confidence,
    }
    return frame


def polars_of(release: ShownRelease) -> "pl.DataFrame":
    """Return a frame with the keys as columns."""
    polars = library("polars", "to_polars")
    kinds = {"key": polars.UInt64} if unsigned(release) else None
    frame: pl.DataFrame = polars.DataFrame(columns_of(release), schema_overrides=kinds)
    return frame


def arrow_of(release: ShownRelease) -> "pa.Table":
    """Return a table; the schema's metadata has the rest of the answer as JSON."""
    rest = _rest(release.answer, "keys", "values", "mean", "errors")
    mean = release.answer.get("mean")
    if isinstance(mean, Mapping):
        rest["mean"] = {name: mean[name] for name in ("middle", "sum_error", "count_error")}
    columns = columns_of(release)
    if unsigned(release):
        arrow = library("arrow", "to_arrow")
        columns["key"] = arrow.array(release.keys, arrow.uint64())
    return _arrow(columns, rest)


def unsigned(release: ShownRelease) -> bool:
    """Return True if keys are unsigned 64-bit integers, which need a column of that type."""
    return release.histogram is not None and release.histogram.domain.get("type") == "uint64"


def columns_of_totals(totals: ShownTotals) -> Columns:
    """Return ``t``, ``total`` (or ``total_1``, ``total_2`` ...) and the errors, by name."""
    names = total_names(len(totals.items[0].values))
    values = zip(*(item.values for item in totals.items), strict=True)
    return {
        "t": [item.t for item in totals.items],
        **dict(zip(names, values, strict=True)),
        "standard_deviation": [item.error.standard_deviation for item in totals.items],
        "half_width": [item.error.half_width for item in totals.items],
    }


def total_names(dimension: int) -> list[str]:
    """Return the names of the columns of totals."""
    return ["total"] if dimension == 1 else [f"total_{place + 1}" for place in range(dimension)]


def pandas_of_totals(totals: ShownTotals) -> "pd.DataFrame":
    """Return a frame indexed by step; ``attrs`` describes the totals."""
    pandas = library("pandas", "to_pandas")
    columns = columns_of_totals(totals)
    steps = pandas.Index(columns.pop("t"), name="t")
    frame: pd.DataFrame = pandas.DataFrame(columns, index=steps)
    confidence = totals.items[0].error.confidence
    frame.attrs = {"stream": totals.stream, **_attributes(totals), "confidence": confidence}
    return frame


def polars_of_totals(totals: ShownTotals) -> "pl.DataFrame":
    """Return a frame with the step as a column."""
    frame: pl.DataFrame = library("polars", "to_polars").DataFrame(columns_of_totals(totals))
    return frame


def arrow_of_totals(totals: ShownTotals) -> "pa.Table":
    """Return a table; the schema's metadata has the rest of the answer as JSON."""
    return _arrow(columns_of_totals(totals), _rest(totals.answer, "items"))


def _attributes(of: Released) -> dict[Hashable, object]:
    """Return the attributes of a frame that describe its numbers."""
    return {
        "dataset": of.dataset,
        "tier": of.tier,
        "mechanism": of.mechanism,
        "epsilon": of.guarantee.epsilon,
        "delta": of.guarantee.delta,
    }


def _rest(answer: Mapping[str, object], *apart: str) -> dict[str, object]:
    return {name: part for name, part in answer.items() if name not in apart}


def _arrow(columns: Columns, rest: Mapping[str, object]) -> "pa.Table":
    table: pa.Table = library("arrow", "to_arrow").table(columns)
    return table.replace_schema_metadata({METADATA: json.dumps(rest, ensure_ascii=False)})


def library(extra: str, method: str) -> Any:
    """Import the module of an extra.  Raises ``MissingExtra`` if it is not installed."""
    module = MODULES[extra]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:  # installed, but broken
            raise
        raise MissingExtra(extra, method) from None


def _key_columns(keys: Sequence[Key]) -> Columns:
    """Return ``key``, or ``key_1, key_2 ...`` if all keys have the same number of parts."""
    tuples = [key for key in keys if isinstance(key, tuple)]
    if tuples and len(tuples) == len(keys) and len(set(map(len, tuples))) == 1:
        parts = zip(*tuples, strict=True)
        return {f"key_{place}": _alike(part) for place, part in enumerate(parts, 1)}
    return {"key": _alike(keys)}


def _alike(cells: Sequence[Key]) -> Sequence[object]:
    """Return the cells as one type, because a column has one: as texts if types differ."""
    kinds = set(map(type, cells))
    if kinds <= {str} or kinds == {float}:
        return cells
    if kinds == {int} and all(abs(_integer(cell)) <= LARGEST_INTEGER for cell in cells):
        return cells
    return [label(cell) for cell in cells]


def _integer(cell: Key) -> int:
    return cell if isinstance(cell, int) else 0


def label(key: Key) -> str:
    """Return a key as one text."""
    return " · ".join(map(_text, key)) if isinstance(key, tuple) else _text(key)


def labeled(key: Key, labels: Mapping[str, str]) -> str:
    """Return a key as one text, behind the labels of its parts if there are any."""
    parts = key if isinstance(key, tuple) else (key,)
    words = " · ".join(labels.get(_text(part), _text(part)) for part in parts)
    return words if words == label(key) else f"{words} ({label(key)})"


def _text(part: Part) -> str:
    return str(part)
