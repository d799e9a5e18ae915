"""Test how Snowflake's driver is used, with a stand-in, and against an account that is named."""

import os
import sys
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from tests.unit.connectors.warehouses import drivers

from penstock.connectors.warehouses.session import Refused
from penstock.connectors.warehouses.snowflake import Snowflake
from penstock.connectors.warehouses.warehouse import arrays, reached
from penstock.errors import InvalidInput, Unavailable

SECRET = "snowflake://ann:canary@account/CLINIC?warehouse=small"


def test_a_connection_binds_on_the_server_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = drivers.snowflake(monkeypatch, lambda *_: pa.table({}))
    Snowflake().opened(SECRET).close()
    assert driver.closed
    given = driver.connected
    assert (given["account"], given["database"], given["warehouse"]) == (
        "account",
        "CLINIC",
        "small",
    )
    assert (given["user"], given["password"], given["paramstyle"]) == ("ann", "canary", "qmark")
    assert given["session_parameters"] == {
        "TIMEZONE": "UTC",
        # A format such as YYYY would make one privacy unit of all days of a year.
        "DATE_INPUT_FORMAT": "YYYY-MM-DD",
        "DATE_OUTPUT_FORMAT": "YYYY-MM-DD",
    }
    Snowflake().opened("snowflake://ann@account?private_key_file=/key.p8")
    assert driver.connected["private_key_file"] == "/key.p8"
    assert not {"password", "database"} & set(driver.connected)


def test_whole_decimals_become_integers_and_no_rows_keep_their_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = {
        "some": pa.table({"key": [Decimal(1), Decimal(2)], "part": [3, 4]}),
        "none": pa.table({"key": pa.array([], pa.int64())}),
    }
    drivers.snowflake(monkeypatch, lambda text, _: tables[text])
    session = Snowflake().opened(SECRET)
    some = arrays(session.rows("some", {"salt": "a"}))
    assert (some["key"].dtype.kind, some["key"].tolist()) == ("i", [1, 2])
    assert session.rows("none", {}) == {"key": []}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ("OperationalError", Unavailable),
        ("InterfaceError", Unavailable),
        ("ProgrammingError", Refused),
    ],
)
def test_no_error_of_the_driver_is_passed_on(
    error: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> pa.Table:
        raise getattr(sys.modules["snowflake.connector"].errors, error)("canary")

    drivers.snowflake(monkeypatch, failing)
    with pytest.raises(kind) as refused:
        Snowflake().opened(SECRET).rows("SELECT 1", {})
    assert "canary" not in str(refused.value)
    monkeypatch.setattr(sys.modules["snowflake.connector"], "connect", failing)
    with pytest.raises(Unavailable) as away:
        Snowflake().opened(SECRET)
    assert "canary" not in away.value.detail
    assert refused.value.__suppress_context__ is away.value.__suppress_context__ is True


def test_an_option_that_is_not_known_is_refused() -> None:
    with pytest.raises(InvalidInput, match="snowflake://USER:PASSWORD@ACCOUNT") as refused:
        Snowflake().opened("snowflake://ann:canary@account?insecure_mode=true")
    assert "canary" not in refused.value.detail


def test_a_table_is_described_and_read_as_it_was_at_one_time() -> None:
    engine, table = Snowflake(), ("CLINIC", "PUBLIC", "VISITS")
    assert engine.located(SECRET, table[1:]) == engine.located(SECRET, table) == ("account", *table)
    for text, parameters in (engine.columns(table), engine.version(table)):
        assert '"CLINIC".INFORMATION_SCHEMA.' in text
        assert list(parameters.values()) == ["PUBLIC", "VISITS"]
        sqlglot.parse_one(text, read="snowflake")
    at = engine.at('"PUBLIC"."VISITS"', "2026-01-02T03:04:05.000006")
    assert "AT(TIMESTAMP => '2026-01-02 03:04:05.000006 +00:00'::TIMESTAMP_TZ)" in at
    sqlglot.parse_one(f"SELECT 1 FROM {at}", read="snowflake")  # noqa: S608 - it is not run
    with pytest.raises(ValueError, match="isoformat"):
        engine.at("t", "' OR 1=1 --")


@pytest.mark.skipif("PENSTOCK_TEST_SNOWFLAKE_URL" not in os.environ, reason="no account is named")
def test_a_real_snowflake_answers_the_probe() -> None:
    assert reached(Snowflake(), os.environ["PENSTOCK_TEST_SNOWFLAKE_URL"])[1] == "passed"
