"""Collect the statements that this thread sends to a database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, event

TRANSACTIONS = ("BEGIN", "COMMIT", "ROLLBACK")


@contextmanager
def statements() -> Iterator[list[str]]:
    """Yield the statements that this thread sends inside the block, without transactions.

    A statement that is sent for many rows at once counts once.  Other threads, such as the log's,
    send theirs at times of their own.
    """
    seen: list[str] = []
    thread = threading.get_ident()

    def note(*arguments: object) -> None:
        text = str(arguments[2])
        if (
            threading.get_ident() == thread
            and not text.startswith(TRANSACTIONS)
            and "pg_advisory" not in text
        ):
            seen.append(text)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
