"""Test ``penstock audit``: events, exposure, and a wrong time that is given up on record."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.unit.cli.program_runs import Run

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.operations.home import utc_now
from penstock.services.people import tier_changes
from penstock.services.schemas.people.tiers import TierSpec
from penstock.settings import Settings


@pytest.fixture
def ahead(furnished: Path) -> Path:
    """Return a home whose log was signed three days in the future."""
    settings = Settings(home=furnished)
    server = home.open_server(settings, clock=lambda: utc_now() + timedelta(days=3))
    tier_changes.create(server, OPERATOR, TierSpec(name="early"))
    server.database.close()
    return furnished


def clock_warnings(here: Run) -> list[str]:
    warnings = here("status", "--format", "json").json["warnings"]
    return [warning for warning in warnings if "penstock audit acknowledge-clock" in warning]


@pytest.mark.usefixtures("ahead")
def test_the_command_gives_up_the_wrong_time_and_says_what_follows(here: Run) -> None:
    (warning,) = [
        warning
        for warning in here("status", "--format", "json").json["warnings"]
        if "log" in warning
    ]
    assert "penstock audit acknowledge-clock" in warning
    done = here("audit", "acknowledge-clock")
    assert done.code == 0
    assert "log's time before" in done.out
    assert "revoke them" in done.out + done.err
    again = here("audit", "acknowledge-clock")
    assert (again.code, "nothing was changed" in again.err) == (1, True)
    assert clock_warnings(here) == []
    last = here("audit", "events", "--format", "json").json
    assert "clock" in str(last)
    assert here("audit", "verify").code == 0


def test_the_log_says_who_was_given_what_and_that_the_operator_did_it(here: Run) -> None:
    release = here("release", "visits", "--as", "pia", "--format", "json").json
    events = here("audit", "events", "--kind", "release", "--format", "json").json
    assert len(events) == 1
    assert events[0]["release"] == release["id"]
    assert (events[0]["actor"], events[0]["user"]) == ("operator", "pia")
    assert events[0]["index"] == release["receipt"]["index"]
    assert events[0]["leaf_hash"] == release["receipt"]["leaf_hash"]
    assert not any(str(value) in json.dumps(events) for value in release["values"])


def test_events_are_filtered_and_cut(here: Run) -> None:
    here("release", "visits", "--as", "pia")
    everything = here("audit", "events", "--format", "json").json
    assert [event["index"] for event in everything] == list(range(len(everything)))
    assert here("audit", "events", "--limit", "3", "--format", "json").json == everything[:3]
    of_pia = here("audit", "events", "--user", "pia", "--format", "json").json
    assert [event["kind"] for event in of_pia] == ["user", "release"]
    of_query = here("audit", "events", "--query", "visits", "--format", "json").json
    assert {event["query"] for event in of_query} == {"visits"}
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    assert here("audit", "events", "--since", tomorrow, "--format", "json").json == []
    assert here("audit", "events", "--until", tomorrow, "--format", "json").json == everything
    assert here("audit", "events", "--since", "yesterday").code == 2


def test_long_lists_are_read_to_their_end(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = here("audit", "events", "--format", "json").json
    monkeypatch.setattr("penstock.services.pagination.LARGEST_LIMIT", 2)
    assert here("audit", "events", "--format", "json").json == everything
    assert len(everything) > 4


def test_exposure_is_that_of_the_best_informed(here: Run) -> None:
    for name in ("pia", "paul", "ines"):
        here("release", "visits", "--as", name)
    alone = here("audit", "exposure", "--users", "ines", "--format", "json").json
    together = here("audit", "exposure", "--users", "pia, paul,ines", "--format", "json").json
    assert together["users"] == ["pia", "paul", "ines"]
    assert together["released"] == alone["released"]
    assert together["independent"]["epsilon"] > 1.1 * together["released"]["epsilon"]
    table = here("audit", "exposure", "--users", "pia,paul,ines").out
    for figure in ("could be", "released", "independent", "reach"):
        assert figure in table
