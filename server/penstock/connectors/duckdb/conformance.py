"""Check that DuckDB computes what the template means, before it reads any data.

The questions are asked of a file in the dataset's format.  A process checks each format once.
"""

import csv
import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.statements.questions import (
    NAMES,
    OPEN_QUESTIONS,
    QUESTIONS,
    ROWS,
    SALT,
    Question,
    Row,
)
from penstock.connectors.statements.statement import Statement
from penstock.connectors.statements.template import statement
from penstock.errors import InvalidInput, Unavailable

Form = Literal["csv", "parquet", "stream"]
"""A file in one of two formats, or rows that are handed over, of Parquet objects."""


@functools.cache
def require_conformance(form: Form) -> None:
    """Raise ``Unavailable`` unless the installed DuckDB gives the right answers.

    ``form`` is the format of the files to be read.  An engine that passed is not checked again in
    this process.
    """
    import duckdb

    different = differences(form)
    if different:
        raise Unavailable(
            f"DuckDB {duckdb.__version__} answers the conformance probe from {form} files"
            f" incorrectly"
            f" ({', '.join(different)}), so no data are read with it. Install the version that"
            f" this server was released with."
        )


def differences(form: Form) -> list[str]:
    """Return the names of the questions with a wrong answer.

    Raises ``Unavailable`` if the rows cannot be written to a temporary file.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-probe-") as folder:
            run = _streams(Path(folder)) if form == "stream" else _files(Path(folder), form)
            questions = (*QUESTIONS, *OPEN_QUESTIONS)
            return [each.name for each in questions if not _is_right(each, run)]
    except OSError as error:
        raise Unavailable(
            "The engine that reads data cannot be checked: a temporary file cannot be written"
            f" ({os.strerror(error.errno or 0)}). Make room in the folder for temporary files, or"
            " name another one in TMPDIR."
        ) from None


Run = Callable[[Statement], NDArray[np.int64]]


def _is_right(question: Question, run: Run) -> bool:
    try:
        answer = run(statement(question.plan, DuckDB()))
    except InvalidInput:
        return False
    return question.is_answered_by(answer)


def _files(folder: Path, form: Literal["csv", "parquet"]) -> Run:
    from penstock.connectors.duckdb import source

    file = _written(folder.resolve() / f"probe.{form}", form)
    return lambda written: source.run(written, file, NAMES, SALT, threads=1)


def _streams(folder: Path) -> Run:
    """Return what runs statements on the rows as two objects of a store, which is a folder."""
    from obstore.store import LocalStore

    from penstock.connectors.duckdb.streamed import run_streamed
    from penstock.connectors.storage.address import Address
    from penstock.connectors.storage.lake import Lake
    from penstock.connectors.storage.stores.bucket import Bucket
    from penstock.connectors.storage.stores.objects import Part

    store = Bucket(LocalStore(folder), "s3://probe/")
    names = ("probe-0.parquet", "probe-1.parquet")
    for name, rows in zip(names, (ROWS[:5], ROWS[5:]), strict=True):
        _write_parquet(folder / name, rows)
    parts = [Part(store.head(name)) for name in names]
    lake = Lake(store, Address("s3", "probe", "*.parquet"), parts)
    return lambda written: run_streamed(written, lake.relation, SALT, threads=1)


def _written(path: Path, form: Literal["csv", "parquet"]) -> SourceFile:
    if form == "csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(NAMES)
            writer.writerows([["" if cell is None else cell for cell in row] for row in ROWS])
    else:
        _write_parquet(path, ROWS)
    return SourceFile(path, form)


def _write_parquet(path: Path, rows: Sequence[Row]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Sequence[object]] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    for name in ("cost", "age"):
        columns[name] = [None if cell is None else float(str(cell)) for cell in columns[name]]
    kinds = {name: pa.float64() if name in ("cost", "age") else pa.string() for name in NAMES}
    table = {name: pa.array(cells, kinds[name]) for name, cells in columns.items()}
    pq.write_table(pa.table(table), path)
