"""Run statements on DuckDB, locked down: it reads the one registered file and nothing else.

A connection lives for one statement, in memory.  It may open no other file, load or install no
extension, and spill nothing to disk, and its configuration is locked before the statement runs.
DuckDB cannot make a path read-only, so the only statement that runs is one SELECT.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from penstock.connectors.duckdb import parquet_cells
from penstock.connectors.duckdb.source_file import SourceFile
from penstock.connectors.planning.plan import Plan
from penstock.connectors.statements.declared import columns_of, groupings, table_of_keys
from penstock.connectors.statements.decoding import decoded
from penstock.connectors.statements.statement import KEY, SALT, SOURCE, Statement
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
            view = _view(connection, file, names, columns, repairs)
            # The engine's own message may quote a cell, so none of it is kept.
            rows = locked(connection, statement, view, file, salt)
            break
        except (duckdb.OutOfMemoryException, MemoryError):
            raise short_of_memory() from None
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
    return decoded(statement, rows)


def locked(
    connection: duckdb.DuckDBPyConnection,
    statement: Statement,
    view: str,
    file: SourceFile | None,
    salt: bytes,
) -> dict[str, NDArray[Any]]:
    """Run a statement on a view of its source, and return the rows' columns by name.

    From then on the connection opens ``file``, or nothing if it is None.
    """
    _declare_all_keys(connection, statement.plan)
    connection.execute(view)
    lock(connection, file)
    if not _is_single_select(connection, statement.text):
        raise RuntimeError("the statement is something else than one SELECT")
    return _rows(connection, statement, salt)


def fits(statement: Statement) -> bool:
    """Return True if a text that another version wrote runs here, with rows that are decoded here.

    It is tried on a source without rows, on a connection that can open no file: it must be one
    SELECT over the tables and the parameter of this version, and return the columns of this version
    as integers, one row for each key.
    """
    plan = statement.plan
    connection = connect(threads=1)
    try:
        _declare_all_keys(connection, plan)
        used = (f"'' AS {identifier(name)}" for name in columns_of(plan))
        columns = ", ".join(used) or "1 AS present"
        # Every name in it is quoted; the rest is fixed text.
        connection.execute(f"CREATE TEMP VIEW {SOURCE} AS SELECT {columns} WHERE FALSE")
        lock(connection, None)
        if not _is_single_select(connection, statement.text):
            return False
        rows = _rows(connection, statement, b"")
    except (duckdb.OutOfMemoryException, MemoryError):
        raise short_of_memory() from None
    except duckdb.Error:
        return False
    finally:
        connection.close()
    older = tuple(rows) == statement.columns
    size = plan.keys if older and plan.open_keys is None else 0
    return (older or tuple(rows) == statement.returned) and all(
        len(column) == size and np.issubdtype(column.dtype, np.integer)
        for name, column in rows.items()
        if name != KEY or plan.open_keys is None
    )


def _rows(
    connection: duckdb.DuckDBPyConnection, statement: Statement, salt: bytes
) -> dict[str, NDArray[Any]]:
    """Run a statement; return the rows' columns by name."""
    parameters = {} if statement.plan.unit is None else {SALT: salt.hex()}
    # In one process numpy's arrays are the engine's; Arrow's way binds the statement twice.
    columns = connection.execute(statement.text, parameters).fetchnumpy()
    return {name: np.asarray(column) for name, column in columns.items()}


def short_of_memory() -> Unavailable:
    """Return the error for a statement that needs more memory than there is."""
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


def _used(file: SourceFile, plan: Plan) -> dict[str, Any]:
    """Return the columns that the plan uses, each with its type in a Parquet file or ``None``."""
    kinds = parquet_cells.types(file)
    return {name: kinds.get(name) for name in columns_of(plan)}


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
    return parquet_cells.text(kind, f"{relation}.{place}")


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
    for table, grouping in groupings(plan).items():
        connection.register("declared", table_of_keys(grouping))
        # The table's name is our own.
        connection.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM declared")  # noqa: S608
        connection.unregister("declared")


def identifier(name: str) -> str:
    """Return a name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text between apostrophes."""
    return "'" + value.replace("'", "''") + "'"
