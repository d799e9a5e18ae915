"""Count the statements that this process and its forks send to SQLite, one byte each in a file.

Python imports a module of this name when it starts.  ``statements.py`` beside this folder
puts it on the path of a server whose statements are counted, and of no server that is timed.
"""

import os
import sqlite3
from sqlite3 import dbapi2
from typing import Any

_connect = sqlite3.connect
_file = os.open(os.environ["BENCHMARK_STATEMENTS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)


def _count() -> None:
    os.write(_file, b".")


class _Cursor(sqlite3.Cursor):
    """Count calls: SQLite's own trace would count what triggers do, too."""

    def execute(self, *arguments: Any) -> Any:
        _count()
        return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        _count()
        return super().executemany(*arguments)


class _Connection(sqlite3.Connection):
    """Count what needs no cursor too, and the ends of transactions."""

    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def execute(self, *arguments: Any) -> Any:
        return self.cursor().execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        return self.cursor().executemany(*arguments)

    def commit(self) -> None:
        if self.in_transaction:
            _count()
        super().commit()

    def rollback(self) -> None:
        if self.in_transaction:
            _count()
        super().rollback()


def _counted(*arguments: Any, **options: Any) -> Any:
    return _connect(*arguments, **{"factory": _Connection, **options})


sqlite3.connect = dbapi2.connect = _counted
