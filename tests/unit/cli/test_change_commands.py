"""``tier change`` and ``delete``, ``query levels`` and ``retire``, ``dataset budget --set``."""

import json
from pathlib import Path

from tests.unit.cli.conftest import Run
from tests.unit.sites import VISITS


def levels(here: Run, folder: Path, content: object) -> tuple[int, str]:
    (folder / "levels.json").write_text(json.dumps(content))
    result = here("query", "levels", "visits", "levels.json", "--format", "json")
    return result.code, result.err


def test_a_tier_is_moved_described_and_deleted(here: Run) -> None:
    moved = here("tier", "change", "public", "--rank", "3", "--format", "json")
    assert moved.json["rank"] == 3
    refused = here("tier", "change", "public", "--above", "internal")
    assert (refused.code, "budgets must not shrink" in refused.err) == (1, True)
    described = here("tier", "change", "public", "--description", "us", "--format", "json")
    assert described.json["description"] == "us"
    assert here("tier", "change", "public", "--rank", "1", "--above", "partner").code == 2
    held = here("tier", "delete", "public")
    assert (held.code, "held by 1: pia" in held.err) == (1, True)
    assert here("user", "set-clearance", "pia", "partner").code == 0
    assert here("tier", "delete", "public").code == 0
    assert [one["name"] for one in here("tier", "list", "--format", "json").json] == [
        "partner",
        "internal",
    ]


def test_levels_are_moved_and_the_ceiling_raised_with_values(here: Run, tmp_path: Path) -> None:
    assert levels(here, tmp_path, {"levels": {"public": {"epsilon": 0.2}}}) == (0, "")
    finer = {"levels": {"internal": {"epsilon": 0.8}}}
    code, words = levels(here, tmp_path, finer)
    assert (code, "send its exact values again" in words) == (1, True)
    assert levels(here, tmp_path, {**finer, "values": VISITS["values"]}) == (0, "")
    heavy = {"levels": {"public": {"epsilon": 0.79}, "partner": {"epsilon": 0.79}}}
    assert here("dataset", "budget", "sites", "--set", "public=0.7").code == 0
    assert levels(here, tmp_path, heavy)[0] == 3


def test_a_budget_is_set_and_never_below_what_is_spent(here: Run) -> None:
    looked = here("dataset", "budget", "sites", "--set", "internal=6", "--preview")
    assert (looked.code, "Nothing was done" in looked.out + looked.err) == (0, True)
    assert here("dataset", "budget", "sites", "--preview").code == 2
    changed = here("dataset", "budget", "sites", "--set", "internal=6", "--format", "json")
    assert [one["granted"]["epsilon"] for one in changed.json["tiers"]] == [1, 2, 6]
    assert here("dataset", "budget", "sites", "--set", "internal=0.01").code == 3
    assert here("dataset", "budget", "sites", "--set", "internal").code == 2
    assert here("dataset", "budget", "sites", "--set", "internal=x").code == 2
    twice = here("dataset", "budget", "sites", "--set", "public=1", "--set", "public=2")
    assert twice.code == 2


def test_a_retired_query_gives_nothing_more(here: Run) -> None:
    assert here("query", "retire", "visits", "--format", "json").json["status"] == "retired"
    assert here("release", "visits", "--as", "pia").code == 1
