"""Collect the statements that are sent to a database."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from penstock.persistence.statements.glances import KeptConnections, PreparedSelect

TRANSACTIONS = ("BEGIN", "COMMIT", "ROLLBACK", "SELECT pg_advisory")


@contextmanager
def statements(*, everywhere: bool = False) -> Iterator[list[str]]:
    """Yield the statements that are sent inside the block, without those of transactions.

    A statement that is sent for many rows at once counts once.  Those of other threads, such as the
    log's, are sent at times of their own, and are among them only with ``everywhere``.
    """
    seen: list[str] = []
    thread = threading.get_ident()

    def note(text: str) -> None:
        if everywhere or threading.get_ident() == thread:
            seen.append(text)

    def executed(*arguments: object) -> None:
        note(str(arguments[2]))

    glanced = PreparedSelect.first

    def first(
        self: PreparedSelect, connections: KeptConnections, parameters: Mapping[str, object]
    ) -> Any:
        note(str(self._statement))
        return glanced(self, connections, parameters)

    event.listen(Engine, "before_cursor_execute", executed)
    try:
        with sent_ahead(note), pytest.MonkeyPatch.context() as patch:
            patch.setattr(PreparedSelect, "first", first)
            yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", executed)
        seen[:] = [text for text in seen if not text.startswith(TRANSACTIONS)]


@contextmanager
def sent_ahead(note: Callable[[str], None]) -> Iterator[None]:
    """Note the statements that are sent to PostgreSQL together with others, ahead of them."""
    try:
        from penstock.persistence.postgresql import driver
    except ImportError:
        yield
        return
    product = driver.Cursor.execute

    def execute(cursor: Any, *arguments: Any, **options: Any) -> Any:
        for statement, _ in cursor.connection.ahead:
            note(statement)
        return product(cursor, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver.Cursor, "execute", execute)
        yield
