"""``tier``, ``user`` and ``token``."""

from datetime import datetime, timedelta

import pytest
from tests.unit.cli.conftest import Run

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


def test_tiers_are_listed_by_rank_and_put_anywhere(here: Run) -> None:
    here("tier", "create", "guests", "--rank", "5", "--description", "who passes by")
    here("tier", "create", "friends", "--above", "public")
    top = here("tier", "create", "top", "--format", "json").json
    listed = here("tier", "list", "--format", "json").json
    assert [one["name"] for one in listed] == [
        *("guests", "public", "friends", "partner", "internal", "top"),
    ]
    ranks = [one["rank"] for one in listed]
    assert ranks == sorted(ranks)
    assert listed[0] == {"name": "guests", "rank": 5, "description": "who passes by"}
    assert listed[-1] == top


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["tier", "create", "Public"], 1, "already"),
        (["tier", "create", "new", "--rank", "10"], 1, "public"),
        (["tier", "create", "new", "--above", "nothing"], 1, "nothing"),
        (["tier", "create", "new", "--rank", "1", "--above", "public"], 2, "not both"),
        (["tier", "create", "new", "--rank", "high"], 2, "high"),
        (["tier", "create", "new", "--rank", "99999999999"], 1, "/rank"),
        (["tier", "create", "/etc"], 1, "/name"),
        (["tier", "create", ""], 1, "/name"),
        (["tier", "create", "x" * 65], 1, "64"),
        (["user", "create", "PIA", "--role", "analyst"], 1, "taken"),
        (["user", "create", "operator", "--role", "admin"], 1, "taken"),
        (["user", "create", "max"], 2, "--role"),
        (["user", "create", "max", "--role", "analyst", "--clearance", "no"], 1, "no tier 'no'"),
        (["user", "set-clearance", "pia", "no"], 1, "no tier 'no'"),
        (["user", "set-clearance", "nobody", "public"], 1, "nobody"),
        (["user", "set-clearance", "pia"], 2, "--none"),
        (["user", "set-clearance", "pia", "public", "--none"], 2, "--none"),
        (["user", "show", "nobody"], 1, "nobody"),
        (["user", "disable", "nobody"], 1, "nobody"),
        (["token", "create", "nobody"], 1, "nobody"),
        (["token", "create", "pia", "--expires", "later"], 1, "/expires_in"),
        (["token", "create", "pia", "--expires", "0d"], 1, "/expires_in"),
        (["token", "create", "pia", "--expires", "99999d"], 1, "/expires_in"),
        (["token", "create", "pia", "--scope", "admin"], 1, "analyst"),
        (["token", "revoke", "pia", "aaaaaaaa"], 1, "aaaaaaaa"),
        (["token", "list", "nobody"], 1, "nobody"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_changes_nothing(
    here: Run, arguments: list[str], code: int, says: str
) -> None:
    def state() -> list[object]:
        commands = (["tier", "list"], ["user", "list"], ["audit", "events"])
        return [here("--format", "json", *command).json for command in commands]

    before = state()
    refused = here(*arguments)
    assert refused.code == code
    assert refused.out == ""
    assert says in refused.err
    assert state() == before


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
    assert [one["prefix"] for one in listed] == [made["prefix"]]
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
        one["prefix"]: one["revoked"]
        for one in here("token", "list", "pia", "--format", "json").json
    }
    assert revoked[prefix] is not None
    assert revoked[kept.split("_")[1]] is None
