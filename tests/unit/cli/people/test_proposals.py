"""Test ``penstock proposal``, and what other commands do under the two-person rule."""

import pytest
from tests.unit.cli.program_runs import Run

from penstock.services.access.principals import acting_as
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.schemas.proposals import ProposalView
from penstock.setting_sources import load


@pytest.fixture
def ruled(here: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return the furnished home with admin ada and the two-person rule in force."""
    monkeypatch.setenv("PENSTOCK_TWO_PERSON_RULE", "on")
    return here


@pytest.fixture
def server(ruled: Run) -> Server:
    return home.open_server(load()[0])


PROPOSED = [
    ("change_budgets", ("dataset", "budget", "sites", "--set", "internal=9")),
    ("give_allowance", ("dataset", "allowance", "give", "sites", "internal", "0.5")),
    ("retire_query", ("query", "retire", "visits")),
    ("shred_dataset", ("dataset", "shred", "sites", "--yes")),
]


@pytest.mark.parametrize(("act", "command"), PROPOSED)
def test_what_takes_two_is_proposed_and_not_done(
    ruled: Run, server: Server, act: str, command: tuple[str, ...]
) -> None:
    proposed = ruled(*command, "--format", "json")
    assert (proposed.code, proposed.json["act"], proposed.json["state"]) == (0, act, "open")
    again = ruled(*command)
    assert "Nothing was done yet" in again.err
    (listed,) = ruled("proposal", "list", "--state", "open", "--format", "json").json
    assert listed == proposed.json
    own = ruled("proposal", "approve", listed["id"])
    assert (own.code, "another admin" in own.err) == (3, True)
    assert proposals.approve(server, acting_as(server, "ada"), listed["id"]).state == "approved"
    assert ruled("proposal", "list", "--state", "open", "--format", "json").json == []


def test_the_operator_approves_what_an_admin_proposed(ruled: Run, server: Server) -> None:
    made = proposals.do_or_propose(
        server, acting_as(server, "ada"), QueryRetirement(query="visits")
    )
    assert isinstance(made, ProposalView)
    done = ruled("proposal", "approve", made.id, "--format", "json")
    assert (done.code, done.json["decided_by"]) == (0, "operator")
    assert ruled("query", "show", "visits", "--format", "json").json["status"] == "retired"
    assert ruled("proposal", "approve", made.id).code == 1


def test_a_proposal_is_withdrawn(ruled: Run) -> None:
    made = ruled("query", "retire", "visits", "--format", "json").json
    assert ruled("proposal", "withdraw", made["id"], "--format", "json").json["state"] == (
        "withdrawn"
    )
    assert "withdrawn" in ruled("proposal", "list").out


def test_the_operator_makes_admins_and_their_tokens(ruled: Run) -> None:
    assert ruled("user", "create", "bea", "--role", "admin").code == 0
    assert ruled("token", "create", "bea").code == 0


def test_switched_off_the_operator_does_it_alone(
    ruled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rule binds admins, not the operator of the machine."""
    monkeypatch.setenv("PENSTOCK_TWO_PERSON_RULE", "off")
    assert ruled("query", "retire", "visits", "--format", "json").json["status"] == "retired"
