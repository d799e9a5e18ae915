"""Test Spark Connect: addresses, tokens, sessions that end, and what the server's operator sees.

What is read with it is tested beside the Spark within this process, in the other modules.
"""

import gc
import logging
import sys
import uuid
import weakref
from types import ModuleType

import grpc  # type: ignore[import-untyped]
import httpx
import pyarrow as pa
import pytest
from pydantic import SecretStr
from pyspark.errors import PySparkImportError
from tests.databases import spark
from tests.databases.spark_connect import TOKEN, Server
from tests.unit.connectors.cases import dataset_of, query_of, stated
from tests.unit.connectors.spark.conftest import ROWS

from penstock.connectors import reachable
from penstock.connectors.connections import Connections
from penstock.connectors.spark import conformance
from penstock.connectors.spark.connect import opened
from penstock.connectors.spark.failures import own_words
from penstock.connectors.spark.relations import declare
from penstock.connectors.spark.session import reading
from penstock.errors import InvalidInput, Unavailable

SHARED = uuid.UUID("78d24446-31ca-4bae-8309-81d02aee9f9c")


def _reach(address: str) -> reachable.Reached:
    return reachable.reach(Connections({"cluster": SecretStr(address)}), "cluster")


@pytest.mark.parametrize(
    "address",
    [
        "sc://127.0.0.1:canary",
        "sc://127.0.0.1:15002/canary",
        "sc://127.0.0.1:15002/;token=canary;use_ssl",
        "sc:///;token=canary",
        "sc://127.0.0.1:15002/;session_id=canary",
        f"sc://127.0.0.1:15002/;token=canary;session_id={SHARED}",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_its_text(address: str) -> None:
    with pytest.raises(Unavailable, match="cannot be read") as refused, reading(address):
        pass
    assert "canary" not in str(refused.value)
    assert refused.value.__context__ is None or refused.value.__suppress_context__
    with pytest.raises(InvalidInput, match="cannot be read"):
        _reach(address)


def test_a_package_that_spark_lacks_is_said_to_be_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacking(name: str) -> None:
        raise PySparkImportError(
            errorClass="PACKAGE_NOT_INSTALLED",
            messageParameters={"package_name": "grpcio", "minimum_version": "1.67.0"},
        )

    without = ModuleType("pyspark.sql.connect.session")
    monkeypatch.setattr(without, "__getattr__", lacking, raising=False)
    monkeypatch.setitem(sys.modules, without.__name__, without)
    with pytest.raises(Unavailable, match=r"install what it needs"):
        opened("sc://localhost:15002")


@pytest.mark.parametrize("ending", ["/;token=canary", "", "/;user_id=canary"])
def test_another_token_or_none_is_refused(
    server: Server, ending: str, capfd: pytest.CaptureFixture[str]
) -> None:
    address = f"sc://localhost:{server.port}{ending}"
    with (
        pytest.raises(Unavailable, match="refuses the connection: check its token") as refused,
        reading(address),
    ):
        pass
    with pytest.raises(InvalidInput, match="refuses the connection: check its token"):
        _reach(address)
    assert "canary" not in f"{refused.value}{capfd.readouterr()}"


def test_a_connection_is_tried(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", lambda _: [])
    reached = _reach(server.address)
    assert (reached.engine, reached.conformance) == ("spark", reachable.PASSED)
    assert reached.version == server.spark.version
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", lambda _: ["sum"])
    assert _reach(server.address).conformance == "failed"


def test_a_session_that_the_server_ended_answers_no_more(server: Server) -> None:
    with reading(server.address) as session:
        session.declare("mine", pa.table({"x": [1]}))
        session._spark.client.release_session()
        for asked in (session.types, session.schema, session.table):
            with pytest.raises(Unavailable, match="cannot be reached, or refuses"):
                asked("mine" if asked == session.types else "SELECT 1 AS x")


def test_rows_that_are_read_once_stay_in_their_own_session(server: Server) -> None:
    with reading(server.address) as outer, reading(server.address) as inner:
        for session, number in ((inner, 1), (outer, 2)):
            session.define("kept", f"SELECT {number} AS x", once=True)
        for session, number in ((inner, 1), (outer, 2)):
            assert session.table("SELECT x FROM kept").to_pylist() == [{"x": number}]


def test_many_declared_keys_go_in_parts(server: Server) -> None:
    keys = pa.table({"key": [f"key {number:>30}" for number in range(80_000)]})
    with reading(server.address) as session:
        least = session._spark.conf.get("spark.sql.session.localRelationCacheThreshold")
        assert keys.nbytes > 2 * int(least)
        session.declare("keys", keys)
        answered = session.table("SELECT key FROM keys ORDER BY key")
    assert answered.column("key").to_pylist() == sorted(keys.column("key").to_pylist())


def test_a_reading_leaves_no_client_in_memory(server: Server) -> None:
    with reading(server.address) as session:
        client = weakref.ref(session._spark.client)
    del session
    gc.collect()
    assert client() is None


def test_what_the_client_would_log_is_not_logged(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """``SPARK_CONNECT_LOG_LEVEL=debug`` has it write statements, relations and messages."""
    with reading(server.address):
        logger = logging.getLogger("pyspark.sql.connect.logging")
    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(logger, "level", logging.DEBUG)
    with caplog.at_level(logging.DEBUG), reading(server.address) as session:
        session.declare("mine", pa.table({"x": ["canary"]}))
        with pytest.raises(Unavailable, match="did not read the view"):
            session.table("SELECT CAST(x AS INT) AS x FROM mine")
    assert "canary" not in f"{caplog.text}{capfd.readouterr()}"


def test_what_the_transport_raises_itself_is_said_in_own_words() -> None:
    with pytest.raises(Unavailable, match="cannot be reached") as refused, own_words(running=False):
        raise grpc.RpcError("canary")
    assert refused.value.__suppress_context__
    assert "canary" not in str(refused.value)


def _shown(server: Server) -> str:
    """Return the pages that show what was asked of the server, and its log."""
    (application,) = httpx.get(f"{server.pages}/api/v1/applications", timeout=600).json()
    statements = f"api/v1/applications/{application['id']}/sql?details=true&length=1000"
    pages = ["connect/", "SQL/", "jobs/", "environment/", statements]
    texts = [
        httpx.get(f"{server.pages}/{page}", follow_redirects=True, timeout=600).text
        for page in pages
    ]
    return "".join(texts) + server.log.read_text()


def test_the_operator_sees_neither_the_salt_nor_the_keys_nor_the_token(server: Server) -> None:
    wards = {"ward": {"type": "string", "categories": ["canary-of-a-key", "a"]}}
    visits = dataset_of(
        source=dict(spark.source_of("visits")),
        columns={"person": {"type": "string"}, **wards},
    )
    server.fill("visits", pa.table(ROWS))
    salt = b"a salt that is secret"
    statement = stated(visits, query_of(group_by=["ward"]))
    with reading(server.address) as session:
        types = session.types("global_temp.visits") or {}
        declare(session, statement, salt, "global_temp.visits", types, reads=True)
        assert session.table(statement.text).num_rows > 0
        number = session._spark.client._session_id
    shown = _shown(server)
    assert "md5" in shown
    assert number in shown
    for secret in (salt.hex(), "canary-of-a-key", TOKEN):
        assert secret not in shown
