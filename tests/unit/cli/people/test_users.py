"""Test ``penstock user``: users are made, cleared for tiers, and shut out."""

import pytest
from tests.unit.cli.program_runs import Run

from penstock.errors import NotAuthenticated
from penstock.services.access.principals import Principal, authenticate
from penstock.services.operations.home import open_server
from penstock.setting_sources import load


def signed_in(token: str) -> Principal:
    settings, _ = load()
    server = open_server(settings)
    try:
        return authenticate(server, token)
    finally:
        server.database.close()


def test_a_user_is_shown_as_made(here: Run) -> None:
    made = here("user", "create", "max", "--role", "analyst", "--role", "auditor")
    assert made.code == 0
    assert "set-clearance max" in made.err
    shown = here("user", "show", "max", "--format", "json").json
    assert shown["roles"] == ["analyst", "auditor"]
    assert shown["clearance"] is None
    assert shown["active"] is True
    rows = here("user", "list", "--format", "csv").out.splitlines()
    assert rows[0] == "name,roles,clearance,active,created_at"
    assert rows[-1].startswith("max,analyst auditor,,true,")


def test_a_clearance_acts_at_once_and_can_be_taken_away(here: Run) -> None:
    def tier() -> str:
        return str(here("release", "visits", "--as", "pia", "--format", "json").json["tier"])

    assert tier() == "public"
    promoted = here("user", "set-clearance", "pia", "internal", "--format", "json").json
    assert promoted["clearance"] == "internal"
    assert tier() == "internal"
    assert here("user", "set-clearance", "pia", "--none").code == 0
    assert here("user", "show", "pia", "--format", "json").json["clearance"] is None
    assert here("release", "visits", "--as", "pia").code == 1


def test_a_disabled_user_is_shut_out(here: Run) -> None:
    token = here("token", "create", "pia").out.strip()
    assert signed_in(token).name == "pia"
    assert here("user", "disable", "pia", "--format", "json").json["active"] is False
    with pytest.raises(NotAuthenticated):
        signed_in(token)
    assert here("release", "visits", "--as", "pia").code == 3
    assert here("token", "create", "pia").code == 1
