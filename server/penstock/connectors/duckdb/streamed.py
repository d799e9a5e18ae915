"""Run statements on rows that are handed to DuckDB, which has no file and opens none."""

from collections.abc import Callable, Mapping

import duckdb
import numpy as np
from numpy.typing import NDArray

from penstock.connectors.duckdb import parquet_cells, source
from penstock.connectors.statements.declared import columns_of
from penstock.connectors.statements.decoding import decoded
from penstock.connectors.statements.statement import SOURCE, Statement
from penstock.connectors.storage.footers import damaged
from penstock.connectors.storage.relation import Relation

_ROWS = "streamed"
"""The name under which the engine scans the rows."""


def run_streamed(
    statement: Statement,
    relation_of: Callable[[Mapping[str, str]], Relation],
    salt: bytes,
    *,
    threads: int | None = None,
    memory: str | None = None,
) -> NDArray[np.int64]:
    """Run a statement on the rows of a relation; return the answer as ``source.run`` does.

    ``relation_of`` returns the rows with the columns that it is given aliases for, by name.  Raises
    what reading them raises, and ``Unavailable`` if memory is short.
    """
    aliases = {name: f"c{place}" for place, name in enumerate(columns_of(statement.plan))}
    relation = relation_of(aliases)
    connection = source.connect(threads, memory)
    rows = None
    try:
        connection.register(_ROWS, relation)
        columns = ", ".join(
            f"{parquet_cells.text(relation.types[alias], alias)} AS {source.identifier(name)}"
            for name, alias in aliases.items()
        )
        # Every name in it is quoted; the rest is fixed text.
        view = f"CREATE TEMP VIEW {SOURCE} AS SELECT {columns or '1 AS present'} FROM {_ROWS}"  # noqa: S608
        rows = source.locked(connection, statement, view, None, salt)
    except (duckdb.OutOfMemoryException, MemoryError):
        raise source.short_of_memory() from None
    except (duckdb.Error, ValueError, OSError):
        pass  # the engine's own message may quote a cell
    finally:
        connection.close()
    if relation.failure is not None:
        raise relation.failure
    if rows is None:
        raise damaged("an object")
    return decoded(statement, rows)
