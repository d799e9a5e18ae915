"""Test that a connection is tried, and that no message about it has its secret."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import SecretStr

from penstock.connectors import reachable
from penstock.connectors.connections import Connections
from penstock.connectors.postgresql import conformance
from penstock.connectors.specs import sources
from penstock.connectors.warehouses import warehouse
from penstock.errors import InvalidInput, PenstockError, Unavailable

if TYPE_CHECKING:
    from tests.databases.cluster import Cluster


def _reach(secret: str) -> reachable.Reached:
    return reachable.reach(Connections({"warehouse": SecretStr(secret)}), "Warehouse")


def _closed_port() -> int:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        return int(reserved.getsockname()[1])


def test_postgresql_is_reached_and_says_its_version(cluster: "Cluster") -> None:
    reached = _reach(cluster.address("postgres"))
    assert (reached.connection, reached.engine) == ("Warehouse", "postgresql")
    assert int(reached.version.partition(".")[0]) >= 13
    assert reached.conformance == reachable.PASSED


def test_a_server_that_computes_otherwise_is_reached_and_fails(
    cluster: "Cluster", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformance, "is_right", lambda *_: False)
    assert _reach(cluster.address("postgres")).conformance == "failed"


@pytest.mark.parametrize(
    ("engine", "secret"),
    [
        ("trino", "trino://a:canary@b/c"),
        ("bigquery", "bigquery://a"),
        ("snowflake", "snowflake://a:canary@b/c"),
    ],
)
def test_warehouses_are_tried_by_their_probe(
    engine: Any, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sources.EXTRAS, engine, (engine, ()))
    tried: list[tuple[str, str]] = []

    def reached(kind: Any, given: str) -> tuple[str, str]:
        tried.append((kind.name, given))
        return "1", "passed"

    monkeypatch.setattr(warehouse, "reached", reached)
    assert _reach(secret).conformance == reachable.PASSED
    assert [(name.lower(), given) for name, given in tried] == [(engine, secret)]


def test_a_server_that_refuses_is_not_one_that_is_away(cluster: "Cluster") -> None:
    with pytest.raises(InvalidInput, match="refuses the connection") as refused:
        _reach(cluster.address("postgres", password="canary"))
    assert _is_clean(refused.value)


@pytest.mark.parametrize(
    ("secret", "kind", "message"),
    [
        (lambda: f"postgresql://a:canary@127.0.0.1:{_closed_port()}/x", Unavailable, "host, port"),
        (lambda: "postgresql://a:canary@[::1/x", InvalidInput, "cannot be read"),
        (lambda: "postgresql://a:b@h/x?canary=1", InvalidInput, "cannot be read"),
        (lambda: "canary", InvalidInput, "no engine that is known here"),
        (lambda: "mysql://a:canary@b/c", InvalidInput, "PENSTOCK_CONNECTION_WAREHOUSE"),
    ],
)
def test_what_cannot_be_reached_is_named_without_the_secret(
    secret: Callable[[], str], kind: type[PenstockError], message: str
) -> None:
    with pytest.raises(kind, match=message) as refused:
        _reach(secret())
    assert _is_clean(refused.value)


def test_an_engine_that_is_not_installed_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sources.EXTRAS, "trino", ("trino", ("no_such_module",)))
    with pytest.raises(InvalidInput, match=r"penstock\[trino\]") as refused:
        _reach("trino://a:canary@b/c")
    assert _is_clean(refused.value)


def _is_clean(error: PenstockError) -> bool:
    """Return True if neither the error nor what a traceback shows with it has the secret."""
    shown = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return shown is None and "canary" not in error.detail + repr(error.data)
