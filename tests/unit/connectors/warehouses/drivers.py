"""Stand in for the drivers of Trino, BigQuery and Snowflake, which are not installed for tests.

Each has the classes and functions that its documentation promises and that are used, and records
what it is called with.
"""

import sys
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

Answer = Callable[[str, Any], pa.Table]
"""From a statement and its parameters to the rows; it may raise one of the driver's errors."""


class Recorded:
    """Record how a driver is connected, and whether the connection was closed."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connected: dict[str, Any] = {}
        self.closed = False

    def connect(self, **given: Any) -> "Recorded":
        self.connected = given
        return self

    def cursor(self) -> "Cursor":
        return Cursor(self.answer)

    def close(self) -> None:
        self.closed = True


class Cursor:
    """Hold the rows of one statement, as the DB-API and as Arrow give them."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._table = pa.table({})

    def execute(self, text: str, parameters: Sequence[str] | None = None) -> None:
        self._table = self._answer(text, parameters)

    @property
    def description(self) -> list[tuple[str]]:
        return [(name,) for name in self._table.column_names]

    def fetchall(self) -> list[list[Any]]:
        return [list(row.values()) for row in self._table.to_pylist()]

    def fetch_arrow_all(self) -> Any:
        return self._table if self._table.num_rows else None


def installed(monkeypatch: pytest.MonkeyPatch, **modules: Any) -> None:
    """Make modules importable; ``__`` in a name stands for a dot."""
    for name, members in modules.items():
        path = name.replace("__", ".")
        module = ModuleType(path)
        module.__path__ = []
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, path, module)


def trino(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> Recorded:
    """Install a stand-in of Trino's driver."""
    driver = Recorded(answer)
    error = type("Error", (Exception,), {})
    names = ("TrinoConnectionError", "HttpError", "TrinoUserError")
    kinds: dict[str, Any] = {name: type(name, (error,), {}) for name in names}
    exceptions = SimpleNamespace(
        Error=error, **kinds, Http503Error=type("Http503Error", (kinds["HttpError"],), {})
    )
    auth = SimpleNamespace(BasicAuthentication=lambda *pair: pair)
    members = {"dbapi": driver, "auth": auth, "exceptions": exceptions}
    installed(monkeypatch, trino=members)
    return driver


def snowflake(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> Recorded:
    """Install a stand-in of Snowflake's driver."""
    driver = Recorded(answer)
    error = type("Error", (Exception,), {})
    kinds = ("OperationalError", "InterfaceError", "ProgrammingError")
    errors = SimpleNamespace(Error=error, **{name: type(name, (error,), {}) for name in kinds})
    members = {"connect": driver.connect, "errors": errors}
    installed(monkeypatch, snowflake={}, snowflake__connector=members)
    monkeypatch.setattr(
        sys.modules["snowflake"], "connector", sys.modules["snowflake.connector"], raising=False
    )
    return driver


def bigquery(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> Recorded:
    """Install a stand-in of BigQuery's driver."""
    driver = Recorded(answer)

    class Client(Recorded):
        def __init__(self, **given: Any) -> None:
            super().__init__(answer)
            driver.connected = given

        def query(self, text: str, job_config: Any) -> Any:
            driver.connected["job"] = job_config
            given = {each[0]: each[2] for each in job_config["query_parameters"]}
            table = answer(text, given)
            rows = SimpleNamespace(to_arrow=lambda **_: table)
            return SimpleNamespace(result=lambda **_: rows)

        def close(self) -> None:
            driver.closed = True

    def credentials_of(path: str) -> str:
        if path != "/key.json":
            raise OSError(f"canary: {path}")
        return path

    credentials = SimpleNamespace(from_service_account_file=credentials_of)
    base = type("GoogleAPIError", (Exception,), {})
    names = ("ServerError", "Unauthorized", "RetryError", "BadRequest")
    kinds: dict[str, Any] = {name: type(name, (base,), {}) for name in names}
    members = {
        "Client": Client,
        "QueryJobConfig": dict,
        "ScalarQueryParameter": lambda *parts: parts,
    }
    installed(
        monkeypatch,
        google={},
        google__cloud={},
        google__cloud__bigquery=members,
        google__oauth2={},
        google__oauth2__service_account={"Credentials": credentials},
        google__api_core={},
        google__api_core__exceptions={"GoogleAPIError": base, **kinds},
        google__auth={},
        google__auth__exceptions={"GoogleAuthError": type("GoogleAuthError", (Exception,), {})},
    )
    for name in ("cloud.bigquery", "oauth2.service_account", "api_core.exceptions"):
        parent, _, child = f"google.{name}".rpartition(".")
        setattr(sys.modules[parent], child, sys.modules[f"google.{name}"])
    return driver
