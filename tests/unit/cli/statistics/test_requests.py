"""Test the commands with which the operator decides about requests."""

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
from penstock.services.schemas.requests.views import RequestView
from penstock.setting_sources import load

PURPOSE = "The yearly report on towns,\nand the plan of beds for the next year"
ASKED = {**BY_TOWN, "levels": {"internal": {"epsilon": 0.5}}, "purpose": PURPOSE}


@pytest.fixture
def stays(here: Run, tmp_path: Path) -> Run:
    written(tmp_path)
    spec: dict[str, Any] = {**STAYS, "source": {"engine": "duckdb", "uri": "stays.csv"}}
    (tmp_path / "stays.json").write_text(json.dumps(spec))
    assert here("dataset", "register", "stays.json").code == 0
    return here


def ask(**changes: Any) -> str:
    """Request a count as ines; return the request's identifier."""
    server = home.open_server(load()[0])
    sent = checked(AskRequest, {**ASKED, **changes})
    view: RequestView = asking.ask(server, acting_as(server, "ines"), sent)
    assert view.id is not None
    return view.id


def test_a_request_is_listed_shown_commented_on_and_approved(stays: Run) -> None:
    assert stays("request", "list").err == "There are no requests.\n"
    public_id = ask()
    listed = stays("request", "list", "--state", "open")
    assert public_id in listed.out
    assert "The yearly report on towns, and the plan of bed\u2026\n" in listed.out
    shown = stays("request", "show", public_id)
    assert "    and the plan of beds for the next year\n" in shown.out
    assert "not registered" in shown.out
    # Nobody sees a query that there is not.
    (row,) = [line for line in shown.out.splitlines() if line.startswith("ines")]
    assert row.split().count("no") == 1
    assert "margin of error" in shown.out
    assert stays("request", "comment", public_id, "By town alone?").code == 0
    options = ("--level", "internal=0.25", "--name", "towns", "--comment", "Of use to many.")
    done = stays("request", "approve", public_id, *options, "--format", "json").json
    assert (done["state"], done["query"], done["decided_by"]) == ("approved", "towns", "operator")
    assert [each["comment"] for each in done["comments"]] == ["By town alone?", "Of use to many."]
    again = stays("request", "approve", public_id)
    assert (again.code, "approved already, by operator" in again.err) == (1, True)
    assert "approved by operator" in stays("request", "show", public_id).out


def test_a_request_whose_statistic_was_registered_meanwhile_is_answered(
    stays: Run, tmp_path: Path
) -> None:
    public_id = ask()
    spec = {name: part for name, part in ASKED.items() if name != "purpose"}
    (tmp_path / "towns.json").write_text(json.dumps({**spec, "name": "towns"}))
    assert stays("query", "register", "towns.json").code == 0
    assert public_id in stays("request", "list", "--state", "answered").out
    assert stays("request", "list", "--state", "open").err == "There are no requests.\n"
    shown = stays("request", "show", public_id)
    assert "towns over stays, version 1, answered" in shown.out
    assert "registered meanwhile" in shown.out


def test_a_request_is_declined_and_costs_nothing(stays: Run) -> None:
    public_id = ask()
    declined = stays("request", "decline", public_id, "--comment", "Too close to another query.")
    assert (declined.code, "declined by operator" in declined.out) == (0, True)
    assert "Too close to another query." in declined.out
    (listed,) = stays("request", "list", "--state", "declined", "--format", "json").json
    assert (listed["id"], listed["query"]) == (public_id, None)
    names = {view["name"] for view in stays("query", "list", "--format", "json").json}
    assert names == {"visits"}


def test_levels_of_a_file_replace_those_requested(stays: Run, tmp_path: Path) -> None:
    public_id = ask()
    levels = {"levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}}
    (tmp_path / "levels.json").write_text(json.dumps(levels))
    both = stays("request", "approve", public_id, "--levels", "levels.json", "--level", "public=1")
    assert both.code == 2
    assert stays("request", "approve", public_id, "--levels", "levels.json").code == 0
    shown = stays("query", "show", "by_town", "--format", "json").json
    assert [tier["tier"] for tier in shown["tiers"]] == ["public", "partner", "internal"]


def test_a_refused_approval_leaves_the_request_open(stays: Run) -> None:
    public_id = ask()
    refused = stays("request", "approve", public_id, "--level", "internal=9")
    assert (refused.code, "The request stays open." in refused.err) == (3, True)
    assert stays("request", "list", "--state", "open", "--format", "json").json[0]["id"] == (
        public_id
    )
    assert stays("request", "show", "missing").code == 1
