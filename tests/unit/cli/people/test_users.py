"""Test ``penstock user``: users are made, cleared for tiers, and shut out."""

from pathlib import Path

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


def test_a_file_of_users_is_checked_then_created(here: Run, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("name,roles,clearance\nlea,analyst;auditor,public\nmax,auditor,\n")
    tried = here("user", "import", str(file), "--dry-run")
    assert (tried.code, "2 would be created" in tried.err) == (0, True)
    assert here("user", "show", "lea").code == 1
    made = here("user", "import", str(file), "--format", "json").json
    assert [user["name"] for user in made["users"]] == ["lea", "max"]
    lea = here("user", "show", "lea", "--format", "json").json
    assert (lea["roles"], lea["clearance"]) == (["analyst", "auditor"], "public")
    assert here("token", "list", "lea", "--format", "json").json == []


def test_a_wrong_file_of_users_is_named_by_line_and_column(here: Run, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    rows = "lea,analyst,public\nPia,analyst,moon\nmax,king,\nLEA,analyst,\n"
    file.write_text(f"name,roles,clearance\n{rows}")
    refused = here("user", "import", str(file))
    assert refused.code == 1
    lines = [line for line in refused.err.splitlines() if "line " in line]
    places = ["line 3, clearance", "line 3, name", "line 4, roles", "line 5, name"]
    assert [line.strip().partition(":")[0] for line in lines] == places
    assert here("user", "show", "lea").code == 1
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * (1024 * 1024 + 1))
    assert "PENSTOCK_BODY_LIMIT" in here("user", "import", str(large)).err
    assert here("user", "import", str(tmp_path / "absent.csv")).code == 2
