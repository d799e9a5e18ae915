"""Test how BigQuery's driver is used, with a stand-in, and against a project that is named."""

import os
import sys
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from tests.unit.connectors.warehouses import drivers

from penstock.connectors.warehouses.bigquery import BigQuery
from penstock.connectors.warehouses.session import Refused
from penstock.connectors.warehouses.warehouse import reached
from penstock.errors import InvalidInput, Unavailable

SECRET = "bigquery://my-project?credentials=/key.json&location=EU"


def test_a_client_is_of_the_project_with_the_key_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = drivers.bigquery(monkeypatch, lambda *_: pa.table({}))
    BigQuery().opened(SECRET).close()
    assert driver.closed
    assert driver.connected == {
        "project": "my-project",
        "credentials": "/key.json",
        "location": "EU",
    }
    BigQuery().opened("bigquery://my-project")
    assert driver.connected["credentials"] is None
    with pytest.raises(InvalidInput, match="file of credentials") as refused:
        BigQuery().opened("bigquery://my-project?credentials=/canary.json")
    assert "canary" not in refused.value.detail
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("kind", [ValueError, TypeError, AttributeError])
def test_a_file_of_any_other_content_is_no_credentials(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def credentials_of(_: str) -> str:
        raise kind("canary")

    drivers.bigquery(monkeypatch, lambda *_: pa.table({}))
    credentials = SimpleNamespace(from_service_account_file=credentials_of)
    monkeypatch.setattr(sys.modules["google.oauth2.service_account"], "Credentials", credentials)
    with pytest.raises(InvalidInput, match="file of credentials") as refused:
        BigQuery().opened(SECRET)
    assert "canary" not in refused.value.detail
    assert refused.value.__suppress_context__


def test_a_machine_without_credentials_is_to_be_given_a_keys_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drivers.bigquery(monkeypatch, lambda *_: pa.table({}))

    def client_of(**_: Any) -> None:
        raise sys.modules["google.auth.exceptions"].GoogleAuthError("canary")

    monkeypatch.setattr(sys.modules["google.cloud.bigquery"], "Client", client_of)
    with pytest.raises(InvalidInput, match="no credentials of its own") as refused:
        BigQuery().opened("bigquery://my-project")
    assert "canary" not in refused.value.detail
    assert refused.value.__suppress_context__


def test_parameters_have_names_and_results_are_never_from_a_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def answer(text: str, parameters: Any) -> pa.Table:
        asked.append((text, parameters))
        return pa.table({"key": [1, 2], "part": [3, 4]})

    driver = drivers.bigquery(monkeypatch, answer)
    session = BigQuery().opened(SECRET)
    assert session.rows("SELECT @salt", {"salt": "a"}) == {"key": [1, 2], "part": [3, 4]}
    assert asked == [("SELECT @salt", {"salt": "a"})]
    assert driver.connected["job"]["use_query_cache"] is False
    assert driver.connected["job"]["use_legacy_sql"] is False


@pytest.mark.parametrize(
    ("module", "error", "kind"),
    [
        ("google.api_core.exceptions", "ServerError", Unavailable),
        ("google.api_core.exceptions", "Unauthorized", Unavailable),
        ("google.auth.exceptions", "GoogleAuthError", Unavailable),
        ("google.api_core.exceptions", "BadRequest", Refused),
    ],
)
def test_no_error_of_the_driver_is_passed_on(
    module: str, error: str, kind: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(*_: Any) -> pa.Table:
        raise getattr(sys.modules[module], error)("canary")

    drivers.bigquery(monkeypatch, answer)
    with pytest.raises(kind) as refused:
        BigQuery().opened(SECRET).rows("SELECT 1", {})
    assert "canary" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_a_table_is_described_and_read_as_it_was_at_one_time() -> None:
    engine, table = BigQuery(), ("my-project", "data", "visits")
    assert engine.located(SECRET, ("data", "visits")) == engine.located(SECRET, table) == table
    for text, parameters in (engine.columns(table), engine.version(table)):
        assert "FROM `my-project`.`data`." in text
        assert parameters == {"table": "visits"}
        sqlglot.parse_one(text, read="bigquery")
    at = engine.at("`data`.`visits`", "2026-01-02T03:04:05.000006")
    assert at.endswith("FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-02 03:04:05.000006+00'")
    sqlglot.parse_one(f"SELECT 1 FROM {at}", read="bigquery")  # noqa: S608 - it is not run
    with pytest.raises(ValueError, match="isoformat"):
        engine.at("t", "' OR 1=1 --")


@pytest.mark.skipif("PENSTOCK_TEST_BIGQUERY_URL" not in os.environ, reason="no project is named")
def test_a_real_bigquery_answers_the_probe() -> None:
    assert reached(BigQuery(), os.environ["PENSTOCK_TEST_BIGQUERY_URL"])[1] == "passed"
