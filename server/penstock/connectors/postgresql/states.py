"""Run a statement, and name the state of the rows that it read.

The name has the snapshot of the very statement that reads: what is in it was decided when that
statement began, and a statement before or after it may see other rows.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from penstock.connectors.postgresql.session import Session
from penstock.connectors.postgresql.views import View
from penstock.connectors.statements.statement import Statement

STATE: Final = "read_state"
"""The column of the state's name."""

_NAMED: Final = """\
SELECT (
  NOT pg_is_in_recovery()
  AND to_regprocedure('pg_current_snapshot()') IS NOT NULL
  AND NOT EXISTS (
    SELECT FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
    WHERE l.pid = pg_backend_pid() AND c.relkind = 'f'
  )
)::text AS named, (
  has_function_privilege('pg_control_checkpoint()', 'EXECUTE')
  AND has_function_privilege('pg_control_recovery()', 'EXECUTE')
)::text AS placed
"""
"""Whether a snapshot names the rows of a view that is locked, and the timeline can be asked for.

A standby leaves transactions in progress out of what it shows of a snapshot, and rows of foreign
tables are in no snapshot of this server.
"""

_TIMELINE: Final = """\
SELECT greatest(c.timeline_id, r.min_recovery_end_timeline)::text AS number
FROM pg_control_checkpoint() c, pg_control_recovery() r
"""
"""The timeline on which a primary writes, also before its first checkpoint after a promotion."""


def read(
    session: Session, view: View, statement: Statement, text: str, parameters: Sequence[str]
) -> tuple[pa.Table, str | None]:
    """Run a statement over a locked view; return its rows, and the name of the state it read.

    ``text`` is what is run of it.  There is no name on a standby, for a view over foreign tables,
    and on servers before PostgreSQL 13.  Two names are the same only if the same transactions were
    visible to both, on a server that does not lose committed transactions.
    """
    (can,) = session.table(_NAMED).to_pylist()
    if can["named"] != "true":
        return session.table(text, parameters), None
    timeline = None
    if can["placed"] == "true":
        timeline = session.table(_TIMELINE).to_pylist()[0]["number"]
    rows, snapshot = split(session.table(naming(text, statement.returned), parameters))
    parts = {"system": view.system, "timeline": timeline, "snapshot": snapshot}
    known = ", ".join(f"{name} {part}" for name, part in parts.items() if part is not None)
    return rows, f"PostgreSQL {known}"


def naming(text: str, returned: Sequence[str]) -> str:
    """Return a SELECT that returns one row more: that of the snapshot under which it all runs."""
    nothing = "NULL, " * len(returned)
    # The text is the recorded one, and all else is ours.
    return (
        f'SELECT "answer".*, CAST(NULL AS TEXT) AS "{STATE}" FROM ({text}) AS "answer"'  # noqa: S608
        f" UNION ALL SELECT {nothing}CAST(pg_current_snapshot() AS TEXT)"
    )


def split(table: pa.Table) -> tuple[pa.Table, str]:
    """Return the rows of the answer, and the snapshot, from what such a SELECT returned."""
    snapshots = table.column(STATE)
    (place,) = np.flatnonzero(snapshots.is_valid().to_numpy())
    # Both parts are views of the columns: nothing is copied.
    rows = pa.concat_tables([table.slice(0, place), table.slice(place + 1)])
    return rows.drop_columns([STATE]), str(snapshots[int(place)].as_py())
