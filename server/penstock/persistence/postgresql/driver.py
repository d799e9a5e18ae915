"""Wait for PostgreSQL for no longer than is sensible, and in few round trips.

These are the connections and cursors of the driver, psycopg.
"""

from collections.abc import Generator, Sequence
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait

from penstock.persistence.postgresql import failures
from penstock.persistence.postgresql.breaker import Breaker

Result = TypeVar("Result")


class DriverConnection(psycopg.Connection[tuple[Any, ...]]):
    """Hold a connection that gives up on a silent server, and whose errors never quote a row."""

    patience = float("inf")
    breaker: Breaker | None = None
    ahead: Sequence[tuple[str, Sequence[int]]] = ()
    """The statements that are sent together with the next one, before it, with parameters."""
    commit_patience = float("inf")
    unconfirmed = False

    def watch_commits(self, patience: float) -> None:
        """Give up a commit that no standby confirms: after a while, or if its wait is canceled."""
        self.commit_patience = patience
        self.add_notice_handler(self._notice)

    def _notice(self, notice: psycopg.errors.Diagnostic) -> None:
        self.unconfirmed = self.unconfirmed or failures.ends_a_wait(notice)

    def commit(self) -> None:
        self.ahead, self.unconfirmed = (), False
        patience = self.patience
        self.patience = min(patience, self.commit_patience)
        try:
            super().commit()
        finally:
            self.patience = patience
        if self.unconfirmed:
            raise failures.Unconfirmed("no standby has confirmed the commit")

    def numbered_cursor(self) -> "NumberedCursor":
        """Return a cursor for statements whose parameters have numbers."""
        return NumberedCursor(self)

    def rollback(self) -> None:
        self.ahead = ()
        super().rollback()

    def wait(self, gen: PQGen[Result], *arguments: Any, **options: Any) -> Result:
        try:
            return super().wait(impatient(gen, self.patience, self.breaker), *arguments, **options)
        except failures.Silent:
            self.close()
            raise
        except psycopg.Error as error:
            # Other parts of a message (DETAIL, CONTEXT) may quote the row.
            if error.diag.message_primary:
                error.args = (error.diag.message_primary,)
            raise


class Cursor(psycopg.Cursor[tuple[Any, ...]]):
    """Send the statements that are waiting for it in one round trip with the cursor's own.

    So the begin of a transaction and its locks cost no time of their own.  They are executed in
    their order, each on what was committed before it; if one fails, that error is raised, and
    nothing after it is executed.
    """

    def execute(self, query: Any, params: Any = None, **options: Any) -> "Cursor":
        connection: Any = self.connection
        ahead, connection.ahead = connection.ahead, ()
        if ahead:
            with connection.pipeline():
                for statement, values in ahead:
                    connection.cursor().execute(statement, values or None, prepare=True)
                super().execute(query, params, **options)
        else:
            super().execute(query, params, **options)
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        if self.connection.ahead:  # type: ignore[attr-defined]  # it is one of ours
            self.connection.execute("SELECT")
        super().executemany(query, params_seq, **options)


class ServerCursor(psycopg.ServerCursor[tuple[Any, ...]]):
    """Fetch rows in parts, in a transaction that has begun: PostgreSQL declares it in no other."""

    def execute(self, *arguments: Any, **options: Any) -> Any:
        if self.connection.ahead:  # type: ignore[attr-defined]  # it is one of ours
            self.connection.execute("SELECT")
        return super().execute(*arguments, **options)


class NumberedCursor(Cursor, psycopg.RawCursor[tuple[Any, ...]]):
    """Run a statement whose parameters have numbers ($1), without a look at its text."""


def impatient(
    gen: PQGen[Result], patience: float, breaker: Breaker | None
) -> Generator[Wait, Ready | int, Result]:
    """Yield from ``gen``; raise ``Silent`` after ``patience`` seconds of silence.

    Earlier if ``breaker`` finds the server silent on all connections."""
    heard = monotonic()
    try:
        state = next(gen)
        while True:
            ready = yield state
            now = monotonic()
            if ready:
                heard = now
                if breaker is not None:
                    breaker.heard()
            elif now - heard > patience or (breaker is not None and breaker.silent(heard)):
                raise failures.Silent(f"nothing was received for {patience:g} s")
            state = gen.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result
