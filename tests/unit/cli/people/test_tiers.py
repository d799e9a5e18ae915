"""Test ``penstock tier``: tiers are listed by rank, put anywhere, moved and deleted."""

import pytest
from tests.unit.cli.program_runs import Run


def test_tiers_are_listed_by_rank_and_put_anywhere(here: Run) -> None:
    here("tier", "create", "guests", "--rank", "5", "--description", "who passes by")
    here("tier", "create", "friends", "--above", "public")
    top = here("tier", "create", "top", "--format", "json").json
    listed = here("tier", "list", "--format", "json").json
    assert [tier["name"] for tier in listed] == [
        *("guests", "public", "friends", "partner", "internal", "top"),
    ]
    ranks = [tier["rank"] for tier in listed]
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


def test_a_tier_is_moved_described_and_deleted(here: Run) -> None:
    moved = here("tier", "change", "public", "--rank", "3", "--format", "json")
    assert moved.json["rank"] == 3
    refused = here("tier", "change", "public", "--above", "internal")
    assert (refused.code, "budgets must not shrink" in refused.err) == (1, True)
    described = here("tier", "change", "public", "--description", "us", "--format", "json")
    assert described.json["description"] == "us"
    assert here("tier", "change", "public", "--rank", "1", "--above", "partner").code == 2
    refused = here("tier", "delete", "public")
    assert (refused.code, "held by 1: pia" in refused.err) == (1, True)
    assert here("user", "set-clearance", "pia", "partner").code == 0
    assert here("tier", "delete", "public").code == 0
    assert [tier["name"] for tier in here("tier", "list", "--format", "json").json] == [
        "partner",
        "internal",
    ]
