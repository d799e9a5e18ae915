"""Check that DuckDB computes what the template means, before it reads any data.

The questions are asked of a file in the dataset's format.  A process checks each format once.
"""

import csv
import functools
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.statements.questions import (
    NAMES,
    OPEN_QUESTIONS,
    QUESTIONS,
    ROWS,
    SALT,
    Question,
)
from penstock.connectors.statements.template import statement
from penstock.errors import InvalidInput, Unavailable

Form = Literal["csv", "parquet"]


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
            file = _written(Path(folder).resolve() / f"probe.{form}", form)
            questions = (*QUESTIONS, *OPEN_QUESTIONS)
            return [each.name for each in questions if not _is_right(each, file)]
    except OSError as error:
        raise Unavailable(
            "The engine that reads data cannot be checked: a temporary file cannot be written"
            f" ({os.strerror(error.errno or 0)}). Make room in the folder for temporary files, or"
            " name another one in TMPDIR."
        ) from None


def _is_right(question: Question, file: SourceFile) -> bool:
    from penstock.connectors.duckdb import source

    written = statement(question.plan, DuckDB())
    try:
        answer = source.run(written, file, NAMES, SALT, threads=1)
    except InvalidInput:
        return False
    return question.is_answered_by(answer)


def _written(path: Path, form: Form) -> SourceFile:
    if form == "csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(NAMES)
            writer.writerows([["" if cell is None else cell for cell in row] for row in ROWS])
    else:
        _write_parquet(path)
    return SourceFile(path, form)


def _write_parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Sequence[object]] = dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))
    for name in ("cost", "age"):
        columns[name] = [None if cell is None else float(str(cell)) for cell in columns[name]]
    pq.write_table(pa.table({name: pa.array(cells) for name, cells in columns.items()}), path)
