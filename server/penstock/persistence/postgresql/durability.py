"""Refuse a PostgreSQL server that may lose what it confirmed, and tell one server from another.

A release that is lost would be drawn a second time.  So the server must write what it confirms to
its disk.  With standbys (``PENSTOCK_REPLICAS=required``) a commit must wait for one of them too:

* every session is checked when it begins, since a role or a database can have settings of its own;
* every transaction that writes is checked by ``CONFIRMED``, since ``synchronous_standby_names`` can
  be emptied at any time, which lets a commit end without a standby;
* the log's own transaction, which every answer waits for, writes something in any case
  (``CONFIRMED_IN_ANY_CASE``): its commit is confirmed after everything that it read, also after
  what a primary kept of a commit that no standby had confirmed before it was started again.
"""

from dataclasses import dataclass
from typing import Any, Final

import psycopg

from penstock.errors import DatabaseUnavailable

CONFIRMED: Final = "SELECT 1 / length(current_setting('synchronous_standby_names'))"
"""Fails with ``failures.NO_STANDBY`` if commits wait for no standby."""

CONFIRMED_IN_ANY_CASE: Final = f"{CONFIRMED}, pg_logical_emit_message(true, 'penstock', '')"
"""The same, and writes a message that nobody reads: only commits with content wait."""

_LOCAL = ("fsync", "full_page_writes")
_COMMIT = "synchronous_commit"
_CONFIRMING = ("on", "remote_apply")
"""Values of ``synchronous_commit`` with which a standby has the commit on its disk."""

# Set to the value that it has, so that a later change of the server's files does not affect
# sessions that found it on.  Nothing is compiled to machine code: of a release that takes 0.1 s
# each time, as soon as the plan for all parameters is estimated to be dear.
_SETTLE: Final = """
SELECT current_setting('server_encoding') AS encoding,
       set_config('synchronous_commit', current_setting('synchronous_commit'), false)
           AS synchronous_commit,
       current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_standby_names') AS standby_names,
       pg_is_in_recovery() AS is_standby,
       (SELECT system_identifier FROM pg_control_system()) AS system,
       CASE WHEN NOT pg_is_in_recovery()
            THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline
  FROM (SELECT set_config('lock_timeout', %(lock)s, false),
               set_config('statement_timeout', %(statement)s, false),
               set_config('idle_in_transaction_session_timeout', %(idle)s, false),
               set_config('jit', 'off', false)
        OFFSET 0) AS timeouts
"""


@dataclass(frozen=True)
class Session:
    """Hold what a new session found of its server.

    ``system`` and ``timeline`` name the server: a standby that was promoted has the system of its
    primary and a timeline of its own, a server that was restored from a dump another system.
    """

    encoding: str
    synchronous_commit: str
    fsync: str
    full_page_writes: str
    standby_names: str
    is_standby: bool
    system: int
    timeline: str | None

    @property
    def server(self) -> tuple[int, str | None]:
        """Return what names the server."""
        return self.system, self.timeline


def settle(
    connection: "psycopg.Connection[tuple[Any, ...]]", *, lock: str, statement: str, idle: str
) -> Session:
    """Set a new session's time limits, in milliseconds, and return what it found."""
    limits = {"lock": lock, "statement": statement, "idle": idle}
    row = connection.execute(_SETTLE, limits).fetchone()
    return Session(*(row or ()))


def require(session: Session, place: str, *, replicated: bool) -> None:
    """Raise ``DatabaseUnavailable``, with what to set, unless the server keeps what it confirms.

    ``replicated`` requires that a standby has it too.
    """
    problem = _problem(session, replicated=replicated)
    if problem is not None:
        raise DatabaseUnavailable(problem, server=place)


def _problem(session: Session, *, replicated: bool) -> str | None:
    for setting in (_COMMIT, *_LOCAL):
        if getattr(session, setting) == "off":
            return (
                f"PostgreSQL runs with {setting} = off, so that a crash of its machine could"
                " undo releases that were handed out, and they would be drawn a second time."
                f" Run {_by_setting(setting)}; then start again."
            )
    if session.encoding != "UTF8":
        return (
            f"The database has the encoding {session.encoding}, which cannot hold every name."
            " Make a new one with `createdb --encoding=UTF8 --template=template0`."
        )
    if session.is_standby:
        return (
            "This PostgreSQL server is a standby, which may lack what was handed out, and cannot"
            " store anything. Name the primary in PENSTOCK_DATABASE_URL, or all hosts with"
            " target_session_attrs=read-write: ...?host=a,b&target_session_attrs=read-write."
        )
    if replicated and session.synchronous_commit not in _CONFIRMING:
        return (
            "PENSTOCK_REPLICAS is required, but PostgreSQL confirms a commit before a standby has"
            f" it on its disk: {_COMMIT} = {session.synchronous_commit}. If the primary is lost,"
            " so are releases that were handed out."
            f" Run {_by_setting(_COMMIT)}; then start again."
        )
    if replicated and not session.standby_names:
        return (
            "PENSTOCK_REPLICAS is required, but no commit waits for a standby:"
            " synchronous_standby_names is empty. If the primary is lost, so are releases that"
            " were handed out. Run `ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (b, c)'`"
            " with the standbys' names and `SELECT pg_reload_conf()` as its superuser, or set"
            " PENSTOCK_REPLICAS=none if there is no standby; then start again."
        )
    return None


def _by_setting(setting: str) -> str:
    return (
        f"`ALTER SYSTEM SET {setting} = on` and `SELECT pg_reload_conf()` as its superuser, or find"
        " where it is set (postgresql.conf, ALTER ROLE, ALTER DATABASE, PGOPTIONS)"
    )
