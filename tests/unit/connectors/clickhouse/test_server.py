"""Test how a server is read: by a stand-in of its driver, and against a server that is named.

The driver is not installed for tests; the stand-in has what its documentation promises and is used,
and asks the ClickHouse in here.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from tests.databases.clickhouse import Tables
from tests.unit.connectors.cases import KEY, SALT, query_of, stated
from tests.unit.connectors.warehouses.drivers import installed

from penstock.connectors.clickhouse import conformance
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.clickhouse.session import SETTINGS
from penstock.connectors.connections import Connections
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.reachable import PASSED, reach
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput, PenstockError, SourceChanged, Unavailable

ADDRESS = "clickhouse://reader:can%2Fary@db.example.org:8443/clinic"


class Refusal(Exception):
    """Stand in for the driver's errors."""


class External:
    """Hold the tables that are sent beside a statement."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, pa.Table]] = {}

    def add_file(self, *, file_name: str, fmt: str, structure: str, data: bytes) -> None:
        assert fmt == "Arrow"
        self.files[file_name] = (structure, pa.ipc.open_file(data).read_all())


class Client:
    """Answer with the ClickHouse in this process."""

    def __init__(self, tables: Tables) -> None:
        self.tables, self.texts, self.closed = tables, list[str](), False
        self.given: dict[str, Any] = {}
        self.refusal: str | None = None

    def connect(self, **given: Any) -> "Client":
        if self.refusal is not None:
            raise Refusal(self.refusal)
        self.given = given
        return self

    def query_arrow(self, text: str, *, external_data: External | None) -> pa.Table:
        if self.refusal is not None:
            raise Refusal(self.refusal)
        self.texts.append(text)
        sent: Mapping[str, Any] = {} if external_data is None else external_data.files
        from penstock.connectors.clickhouse.embedded import Embedded

        here = Embedded(self.tables.folder, SETTINGS)
        try:
            with here._made(sent):
                return here._connection.query(text, "ArrowTable")
        except Exception as error:
            raise Refusal(f"HTTPDriver ... error: {error}") from error
        finally:
            here.close()

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def client(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Install the stand-in of the driver."""
    made = Client(tables)
    installed(
        monkeypatch,
        clickhouse_connect={"get_client": made.connect},
        clickhouse_connect__driver={},
        clickhouse_connect__driver__exceptions={"ClickHouseError": Refusal},
        clickhouse_connect__driver__external={"ExternalData": External},
    )
    monkeypatch.setattr(conformance, "PASSED", set())
    return made


def _sources(address: str = ADDRESS) -> Sources:
    from pydantic import SecretStr

    return Sources(connections=Connections({"tables": SecretStr(address)}))


def test_a_server_answers_the_probe_and_a_query(client: Client, visits: DatasetSpec) -> None:
    assert reach(_sources().connections, "tables").conformance == PASSED
    numbers = answer(
        visits,
        stated(visits, query_of(group_by=["ward"])),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(visits, KEY, _sources()),
        sources=_sources(),
    ).steps
    assert numbers.tolist() == [2, 1, 1]
    assert client.closed
    assert not [text for text in client.texts if SALT.hex() in text or "canary" in text]


def test_a_client_is_made_with_our_settings_and_under_tls(client: Client) -> None:
    with reading(ADDRESS):
        pass
    given = client.given
    assert (given["host"], given["port"], given["database"]) == ("db.example.org", 8443, "clinic")
    assert (given["username"], given["password"], given["secure"]) == ("reader", "can/ary", True)
    assert given["settings"] == {**SETTINGS, "max_execution_time": "3600", "readonly": "2"}
    for address, secure in (
        ("clickhouse://a:b@h:8123/", False),
        ("clickhouse://a:b@h/", True),
        ("clickhouses://a:b@h:9000/", True),
    ):
        with reading(address):
            assert client.given["secure"] is secure


@pytest.mark.parametrize(
    ("said", "kind", "message"),
    [
        ("Code: 516. DB::Exception: canary", Unavailable, "refuses the connection"),
        ("Code: 497. DB::Exception: canary", Unavailable, "may SELECT from the view"),
        ("Code: 164. DB::Exception: canary", Unavailable, "readonly = 2"),
        ("Code: 115. DB::Exception: canary", Unavailable, "version 25.8 or later"),
        ("Code: 241. DB::Exception: canary", Unavailable, "a limit of memory"),
        ("Code: 47. DB::Exception: canary", Unavailable, "own expressions must not fail"),
        ("Connection refused: canary", Unavailable, "cannot be reached"),
    ],
)
def test_what_a_server_says_is_said_in_our_words(
    client: Client, said: str, kind: type[PenstockError], message: str
) -> None:
    with reading(ADDRESS) as session:
        client.refusal = said
        with pytest.raises(kind, match=message) as refused:
            session.table("SELECT 1 AS a", {})
        assert refused.value.__cause__ is None
        assert "canary" not in str(refused.value)


def test_a_relation_that_is_gone_is_a_change_and_a_server_that_is_away_is_none(
    client: Client,
) -> None:
    with reading(ADDRESS) as session:
        client.refusal = "Code: 60. DB::Exception: canary"
        assert session.types("`data`.`none`") is None
        with pytest.raises(SourceChanged):
            _ = session.version
        client.refusal = "Connection reset"
        with pytest.raises(Unavailable, match="cannot be reached"):
            session.types("`data`.`visits`")
        with pytest.raises(Unavailable, match="cannot be reached"):
            session.schema("SELECT 1", {})


@pytest.mark.parametrize("code", [81, 516])
def test_a_connection_that_is_refused_is_no_view_that_changed(client: Client, code: int) -> None:
    client.refusal = f"Code: {code}. DB::Exception: canary"
    with pytest.raises(Unavailable, match="user, password and database") as refused:
        reach(_sources().connections, "tables")
    assert refused.value.__cause__ is None
    assert "canary" not in str(refused.value)


def test_an_address_of_another_form_is_refused_without_it() -> None:
    for address in ("clickhouse://", "clickhouse://a:canary@h:port/", "clickhouse://h/?canary=1"):
        with pytest.raises(InvalidInput, match="cannot be read") as refused, reading(address):
            pass
        assert "canary" not in str(refused.value)


def test_without_the_driver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clickhouse_connect", None)
    with pytest.raises(Unavailable, match="pip install clickhouse-connect"), reading(ADDRESS):
        pass


@pytest.mark.skipif("PENSTOCK_TEST_CLICKHOUSE_URL" not in os.environ, reason="no server is named")
def test_a_real_clickhouse_answers_the_probe() -> None:
    address = os.environ["PENSTOCK_TEST_CLICKHOUSE_URL"]
    assert reach(_sources(address).connections, "tables").conformance == PASSED
