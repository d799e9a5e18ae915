"""Run statements on DuckDB, locked down: it reads the one registered file and nothing else.

A connection lives for one statement, in memory.  It may open no other file, load or install no
extension, and spill nothing to disk, and its configuration is locked before the statement runs.
DuckDB cannot make a path read-only, so the only statement that runs is one SELECT.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from penstock.connectors.duckdb import parquet_cells
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.duckdb.sql import SALT, SOURCE, TAKEN, Statement, identifier, literal
from penstock.connectors.planning.correlated_counts import answer_of
from penstock.connectors.planning.open_keys import open_answer_of
from penstock.connectors.planning.plan import Grouping, Plan
from penstock.connectors.specs.models import ColumnType
from penstock.errors import InvalidInput, Unavailable

_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
    "preserve_insertion_order": False,
    "temp_directory": "",
}

_CASTS_IN_READER = "type_pushdown"
"""From 2.0 on casts would run in the CSV reader, where a failed cast drops the whole line."""


def run(
    statement: Statement,
    file: SourceFile,
    names: Sequence[str],
    salt: bytes,
    *,
    threads: int | None = None,
    memory: str | None = None,
) -> NDArray[np.int64]:
    """Run a statement; return the answer in lattice steps, shape ``(plan.dimension,)``.

    For open keys it has the ranks of the keys in the file, and then their counts.
    ``names`` are the file's columns in its order; ``memory`` is a limit such as "2GB".
    Raises ``InvalidInput`` for a damaged file, ``Unavailable`` if memory is short.
    """
    plan, rows = statement.plan, None
    columns = _used(file, plan)
    for repairs in (False, True):
        connection = connect(threads, memory)
        try:
            _declare_all_keys(connection, plan)
            connection.execute(_view(connection, file, names, columns, repairs))
            lock(connection, file)
            if not _is_single_select(connection, statement.text):
                raise RuntimeError("the statement is something else than one SELECT")
            # The engine's own message may quote a cell, so none of it is kept.
            rows = connection.execute(statement.text, _parameters(plan, salt)).fetchnumpy()
            break
        except (duckdb.OutOfMemoryException, MemoryError):
            raise _short_of_memory() from None
        except (duckdb.Error, ValueError, OSError):  # Arrow's are of the last two
            if not any(parquet_cells.repairable(kind) for kind in columns.values()):
                break
        finally:
            connection.close()
    if rows is None:
        raise InvalidInput(
            f"The dataset's file cannot be read to its end as {file.format}: it is damaged. Nothing"
            f" was released. Write the file again and register it as a new version."
        ) from None
    return _decoded(statement, rows)


def fits(statement: Statement) -> bool:
    """Return True if a text that another version wrote runs here, with rows that are decoded here.

    It is tried on a source without rows, on a connection that can open no file: it must be one
    SELECT over the tables and the parameter of this version, and return the columns of this version
    as integers, one row for each key.
    """
    plan = statement.plan
    names = (*(("key",) if plan.open_keys else ()), *statement.columns)
    connection = connect(threads=1)
    try:
        _declare_all_keys(connection, plan)
        used = (f"'' AS {identifier(name)}" for name in _names(plan))
        columns = ", ".join(used) or "1 AS present"
        # Every name in it is quoted; the rest is fixed text.
        connection.execute(f"CREATE TEMP VIEW {SOURCE} AS SELECT {columns} WHERE FALSE")
        lock(connection, None)
        if not _is_single_select(connection, statement.text):
            return False
        tried = connection.execute(statement.text, _parameters(plan, b"")).fetchnumpy()
        rows = {name: np.asarray(column) for name, column in tried.items()}
    except (duckdb.OutOfMemoryException, MemoryError):
        raise _short_of_memory() from None
    except duckdb.Error:
        return False
    finally:
        connection.close()
    size = plan.keys if plan.open_keys is None else 0
    return tuple(rows) == names and all(
        len(rows[name]) == size and np.issubdtype(rows[name].dtype, np.integer)
        for name in statement.columns
    )


def _decoded(statement: Statement, rows: Mapping[str, Any]) -> NDArray[np.int64]:
    """Return the answer that is in the columns of the rows, by the statement's plan."""
    columns = [np.asarray(rows[name]).astype(np.int64) for name in statement.columns]
    plan = statement.plan
    if plan.open_keys is not None:
        return open_answer_of(plan.open_keys, np.asarray(rows["key"]).tolist(), *columns)
    return answer_of(plan, columns)


def _short_of_memory() -> Unavailable:
    return Unavailable(
        "The server has too little memory to compute this answer. Nothing was released."
        " Give it more, or group by fewer keys."
    )


def connect(threads: int | None = None, memory: str | None = None) -> duckdb.DuckDBPyConnection:
    """Return a connection in memory, without extensions and without a folder to spill to."""
    configuration = dict(_CONFIGURATION)
    if threads is not None:
        configuration["threads"] = threads
    if memory is not None:
        configuration["memory_limit"] = memory
    connection = duckdb.connect(":memory:", config=configuration)
    connection.execute("SET TimeZone = 'UTC'")
    known = {name for (name,) in connection.execute("FROM duckdb_optimizers()").fetchall()}
    if _CASTS_IN_READER in known:
        connection.execute(f"SET disabled_optimizers = '{_CASTS_IN_READER}'")
    return connection


def lock(connection: duckdb.DuckDBPyConnection, file: SourceFile | None) -> None:
    """Forbid a connection to open any file but ``file``, and to change any setting."""
    path = "" if file is None else literal(str(file.path))
    connection.execute(f"SET allowed_paths = [{path}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _is_single_select(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    kinds = [each.type for each in connection.extract_statements(text)]
    return kinds == [duckdb.StatementType.SELECT]


def _parameters(plan: Plan, salt: bytes) -> dict[str, str]:
    return {} if plan.unit is None else {SALT: salt.hex()}


def _used(file: SourceFile, plan: Plan) -> dict[str, Any]:
    """Return the columns that the plan uses, each with its type in a Parquet file or ``None``."""
    kinds = parquet_cells.types(file)
    return {name: kinds.get(name) for name in _names(plan)}


def _names(plan: Plan) -> list[str]:
    """Return the names of the columns that the plan uses."""
    key = plan.open_keys.column if plan.open_keys else None
    return sorted({column.name for column in (plan.unit, key, *plan.columns) if column is not None})


def _view(
    connection: duckdb.DuckDBPyConnection,
    file: SourceFile,
    names: Sequence[str],
    columns: Mapping[str, Any],
    repairs: bool,
) -> str:
    """Return a view of ``columns`` as text, by declared name; read by Arrow for ``repairs``."""
    places = {name: f"c{names.index(name)}" for name in columns}
    repaired = {
        name: place
        for name, place in places.items()
        if repairs and parquet_cells.repairable(columns[name])
    }
    selected = ", ".join(
        f"{_text(columns[name], place, name in repaired)} AS {identifier(name)}"
        for name, place in places.items()
    )
    aliases = [f"c{place}" for place in range(len(names))]
    joined = ""
    if repaired:
        parquet_cells.read(connection, file, repaired)
        aliases.append(parquet_cells.NUMBER)
        joined = f" JOIN {parquet_cells.TABLE} USING ({parquet_cells.NUMBER})"
    # Every name and path in it is quoted; the rest is fixed text.
    return (
        f"CREATE TEMP VIEW {SOURCE} AS SELECT {selected or '1 AS present'}"  # noqa: S608
        f" FROM {_reader(file, names, bool(repaired))} AS file({', '.join(aliases)}){joined}"
    )


def _text(kind: Any, place: str, repaired: bool) -> str:
    if kind is not None and parquet_cells.unreadable(kind):
        return "CAST(NULL AS VARCHAR)"
    relation = parquet_cells.TABLE if repaired else "file"
    return f"TRY_CAST({relation}.{place} AS VARCHAR)"


def _reader(file: SourceFile, names: Sequence[str], numbered: bool) -> str:
    path = literal(str(file.path))
    if file.format == "parquet":
        more = ", file_row_number = true" if numbered else ""
        return f"read_parquet({path}, hive_partitioning = false, union_by_name = false{more})"
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(names)))
    # No sniffing, which looks at cells.  Lines that are not CSV are padded or dropped one by one
    # and never reported; one thread reads, so that the result is always the same.
    return (
        f"read_csv({path}, auto_detect = false, header = true, delim = ',', quote = '\"',"
        f" escape = '\"', columns = {{{columns}}}, null_padding = true, ignore_errors = true,"
        " strict_mode = false, parallel = false, hive_partitioning = false)"
    )


def _declare_all_keys(connection: duckdb.DuckDBPyConnection, plan: Plan) -> None:
    for place, grouping in enumerate(plan.groupings):
        _declare_keys(connection, f"keys_{place}", grouping)
    if plan.summand is not None and plan.summand.categories:
        outside = Grouping(plan.summand.column, categories=plan.summand.categories)
        _declare_keys(connection, TAKEN, outside)


def _declare_keys(connection: duckdb.DuckDBPyConnection, table: str, grouping: Grouping) -> None:
    import pyarrow as pa

    positions = pa.array(range(len(grouping)), pa.int64())
    if grouping.categories:
        values = pa.array(grouping.categories, _arrow_type(grouping.column.type))
        columns = {"value": values, "position": positions}
    else:
        # The last bin is closed: it ends just below the next larger double.
        ends = [*grouping.edges[1:-1], math.nextafter(grouping.edges[-1], math.inf)]
        columns = {
            "lower": pa.array(grouping.edges[:-1], pa.float64()),
            "upper": pa.array(ends, pa.float64()),
            "position": positions,
        }
    connection.register("declared", pa.table(columns))
    # The table's name is our own.
    connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM declared")  # noqa: S608
    connection.unregister("declared")


def _arrow_type(kind: ColumnType) -> object:
    import pyarrow as pa

    match kind:
        case "integer":
            return pa.int64()
        case "boolean":
            return pa.bool_()
        case "date":
            return pa.date32()
    return pa.string()
