"""Test ``penstock user invite``: a link is made once, listed without it, and revoked."""

import pytest
from tests.unit.cli.program_runs import Run


def test_people_are_invited_listed_and_revoked(here: Run) -> None:
    given = ("lea", "--role", "analyst", "--clearance", "public", "--expires", "12h")
    made = here("user", "invite", *given, "--format", "json").json
    assert "/invitation#pin_" in made["link"]
    listed = here("user", "invitations", "--format", "json")
    assert [(item["id"], item["state"]) for item in listed.json] == [(made["id"], "open")]
    assert made["link"].rpartition("_")[2] not in listed.out
    assert here("user", "revoke-invitation", made["id"]).code == 0
    assert "revoked" in here("user", "invitations").out
    assert here("user", "revoke-invitation", "absent").code == 1
    assert here("user", "invite", "Pia", "--role", "analyst").code == 1


def test_the_link_begins_with_the_setting_and_the_note_says_so(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("--role", "auditor")
    alone = here("user", "invite", "lea", *given)
    assert "http://127.0.0.1:8080/invitation#pin_" in alone.out
    assert "PENSTOCK_PUBLIC_URL is not set here" in alone.err + alone.out
    monkeypatch.setenv("PENSTOCK_PUBLIC_URL", "https://penstock.example.org/below/")
    told = here("user", "invite", "noa", *given)
    assert "https://penstock.example.org/below/invitation#pin_" in told.out
    assert "public_url (from PENSTOCK_PUBLIC_URL)" in told.err + told.out
    assert "is not set" not in told.err + told.out
