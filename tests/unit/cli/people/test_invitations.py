"""Test ``penstock user invite``: a link is made once, listed without it, and revoked."""

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
