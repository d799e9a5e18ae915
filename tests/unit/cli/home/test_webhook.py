"""Test the commands that show messages for the webhook, and let them be sent again."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.services.datasets.stays import BY_TOWN, STAYS, written

from penstock.connectors.planning.refusals import checked
from penstock.services.access.principals import acting_as
from penstock.services.operations import home
from penstock.services.requests import asking
from penstock.services.schemas.requests.specs import AskRequest
from penstock.services.webhook import log_reading, outbox
from penstock.services.webhook.posting import Outcome
from penstock.setting_sources import load

URL, SECRET = "https://example.org/of-the-address", "s" * 32


@pytest.fixture
def told(here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a home with a webhook whose one message was given up."""
    written(tmp_path)
    spec: dict[str, Any] = {**STAYS, "source": {"engine": "duckdb", "uri": "stays.csv"}}
    (tmp_path / "stays.json").write_text(json.dumps(spec))
    assert here("dataset", "register", "stays.json").code == 0
    (tmp_path / "secret").write_text(SECRET)
    monkeypatch.setenv("PENSTOCK_WEBHOOK_URL", URL)
    monkeypatch.setenv("PENSTOCK_WEBHOOK_SECRET_FILE", str(tmp_path / "secret"))
    server = home.open_server(load()[0])
    fields = {**BY_TOWN, "levels": {"internal": {"epsilon": 0.5}}, "purpose": "The report"}
    asking.ask(server, acting_as(server, "ines"), checked(AskRequest, fields))
    (number,) = outbox.due(server)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outbox, "MOST_ATTEMPTS", 1)
        claim = outbox.claim(server, number)
        assert claim is not None
        outbox.settle(server, claim, Outcome(delivered=False, answer="status 503"))
    server.database.close()
    return here


def test_a_message_that_was_given_up_is_shown_and_sent_again(told: Run) -> None:
    warned = told("status")
    assert "0 that are tried again, 1 that were given up" in warned.err
    listed = told("webhook", "list", "--state", "given_up")
    assert "request.opened" in listed.out
    assert "given up         1  status 503" in listed.out
    (again,) = told("webhook", "retry", "--format", "json").json
    assert (again["state"], again["attempts"]) == ("waiting", 0)
    assert "No message was given up" in told("webhook", "retry").err
    assert "1 that are tried again, 0 that were given up" in told("status").err


def test_a_message_about_a_leaf_is_shown_with_its_place(
    told: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_WEBHOOK_EVENTS", "budget.raised")
    server = home.open_server(load()[0])
    log_reading.read_on(server)
    server.database.close()
    shown = told("webhook", "list", "--format", "json").json
    assert [row["leaf"] for row in shown if row["event"] == "request.opened"] == [None]
    raised = [row for row in shown if row["event"] == "budget.raised"]
    assert {row["request"] for row in raised} == {None}
    assert min(row["leaf"] for row in raised) > 0
    assert "budget.raised" in told("webhook", "list").out


def test_neither_address_nor_secret_is_shown(told: Run) -> None:
    commands = (("config", "show"), ("status",), ("webhook", "list", "--format", "json"))
    for command in commands:
        shown = told(*command)
        assert "of-the-address" not in shown.out + shown.err
        assert SECRET not in shown.out + shown.err
    masked = {row["name"]: row["value"] for row in told("config", "show", "--format", "json").json}
    assert masked["webhook_url"] == masked["webhook_secret"] == "(set)"


def test_without_a_webhook_it_is_said_how_to_set_one(here: Run) -> None:
    assert "PENSTOCK_WEBHOOK_URL" in here("webhook", "list").err
