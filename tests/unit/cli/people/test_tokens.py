"""Test ``penstock token``: a token is printed once, lets its user in, expires and is revoked."""

from datetime import datetime, timedelta

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


def test_the_token_alone_is_on_standard_output_and_lets_its_user_in(here: Run) -> None:
    made = here("token", "create", "ada")
    assert made.out.count("\n") == 1
    token = made.out.strip()
    principal = signed_in(token)
    assert principal.name == "ada"
    assert principal.roles == {"admin"}
    assert token not in made.err
    assert token.split("_")[1] in made.err


def test_a_token_lives_as_long_as_was_said(here: Run) -> None:
    made = here("token", "create", "pia", "--expires", "12h", "--format", "json").json
    listed = here("token", "list", "pia", "--format", "json").json
    assert [token["prefix"] for token in listed] == [made["prefix"]]
    life = datetime.fromisoformat(listed[0]["expires"]) - datetime.fromisoformat(
        listed[0]["created"]
    )
    assert life == timedelta(hours=12)
    assert "token" not in listed[0]
    assert made["token"] not in here("token", "list", "pia").out


def test_a_token_can_carry_fewer_roles_than_its_user(here: Run) -> None:
    here("user", "create", "max", "--role", "admin", "--role", "auditor")
    token = here("token", "create", "max", "--scope", "auditor").out.strip()
    assert signed_in(token).roles == {"auditor"}


def test_a_revoked_token_is_refused_at_once(here: Run) -> None:
    kept = here("token", "create", "pia").out.strip()
    lost = here("token", "create", "pia").out.strip()
    prefix = lost.split("_")[1]
    assert here("token", "revoke", "pia", prefix, "--format", "json").json["prefix"] == prefix
    with pytest.raises(NotAuthenticated):
        signed_in(lost)
    assert signed_in(kept).name == "pia"
    revoked = {
        token["prefix"]: token["revoked"]
        for token in here("token", "list", "pia", "--format", "json").json
    }
    assert revoked[prefix] is not None
    assert revoked[kept.split("_")[1]] is None
