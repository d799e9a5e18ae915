"""Test how Trino's driver is used, with a stand-in, and against a server where one is named."""

import os
import sys
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.connectors.warehouses import drivers

from penstock.connectors.warehouses.session import Engine, Refused
from penstock.connectors.warehouses.trino import Trino
from penstock.connectors.warehouses.warehouse import reached
from penstock.errors import InvalidInput, Unavailable

SECRET = "trino://ann:can%40ary@host/lake"


def test_a_password_goes_over_tls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = drivers.trino(monkeypatch, lambda *_: pa.table({}))
    Trino().opened(SECRET).close()
    assert driver.closed
    assert (driver.connected["http_scheme"], driver.connected["port"]) == ("https", 443)
    assert driver.connected["auth"] == ("ann", "can@ary")
    assert driver.connected["catalog"] == "lake"
    Trino().opened("trino://ann@host:81")
    assert (driver.connected["http_scheme"], driver.connected["port"]) == ("http", 81)
    assert driver.connected["auth"] is driver.connected["catalog"] is None


def test_rows_come_by_column_and_parameters_by_place(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def answer(text: str, parameters: Any) -> pa.Table:
        asked.append((text, parameters))
        return pa.table({"key": [1, 2], "part": [3, 4]})

    drivers.trino(monkeypatch, answer)
    session = Trino().opened(SECRET)
    assert session.rows("SELECT ?", {"salt": "a", "again": "b"}) == {"key": [1, 2], "part": [3, 4]}
    assert session.rows("SELECT 1", {}) is not None
    assert asked == [("SELECT ?", ["a", "b"]), ("SELECT 1", None)]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("TrinoConnectionError", Unavailable),
        ("Http503Error", Unavailable),
        ("HttpError", Unavailable),
        ("TrinoUserError", Refused),
    ],
)
def test_no_error_of_the_driver_is_passed_on(
    error: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: Any) -> pa.Table:
        raise getattr(sys.modules["trino"].exceptions, error)("canary")

    drivers.trino(monkeypatch, answer)
    with pytest.raises(kind) as refused:
        Trino().opened(SECRET).rows("SELECT 1", {})
    assert "canary" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("error", [ValueError("canary"), KeyError("canary")])
def test_another_program_that_answers_there_is_no_trino(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: Any) -> pa.Table:
        raise error  # by the driver, of a page that is no JSON, or JSON without what it looks for

    drivers.trino(monkeypatch, answer)
    with pytest.raises(Unavailable, match="Trino cannot be reached") as refused:
        Trino().opened(SECRET).rows("SELECT 1", {})
    assert "canary" not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("secret", ["trino://", "trino://[canary", "trino://a@h/x?canary=1"])
def test_another_address_is_refused_without_it(secret: str) -> None:
    with pytest.raises(InvalidInput, match="trino://USER:PASSWORD@HOST") as refused:
        Trino().opened(secret)
    assert "canary" not in refused.value.detail


def test_the_columns_of_a_table_are_asked_for_in_its_catalog() -> None:
    text, parameters = Trino().columns(("lake", "public", "visits"))
    assert 'FROM "lake".information_schema.columns' in text
    assert list(parameters.values()) == ["public", "visits"]
    assert "FROM information_schema.columns" in Trino().columns(("public", "visits"))[0]
    located = Trino().located(SECRET, ("public", "visits"))
    assert located == Trino().located("trino://bob@HOST", ("lake", "public", "visits"))
    assert located != Trino().located("trino://ann@other/lake", ("public", "visits"))
    engine: Engine = Trino()
    assert engine.version(("public", "visits")) is None


@pytest.mark.skipif("PENSTOCK_TEST_TRINO_URL" not in os.environ, reason="no Trino is named")
def test_a_real_trino_answers_the_probe() -> None:
    assert reached(Trino(), os.environ["PENSTOCK_TEST_TRINO_URL"])[1] == "passed"
