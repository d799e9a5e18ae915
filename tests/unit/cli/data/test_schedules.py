"""Test ``penstock schedule``: what it will take first, then made, switched on and off, removed."""

import json
from pathlib import Path

from tests.unit.cli.program_runs import Run
from tests.unit.services.datasets.stays import ROWS, STAYS
from tests.unit.services.schedules.feeding import DAILY, FEEDS
from tests.unit.services.schedules.planning import spec_of

ADMIN = ("--by", "ada")


def test_a_schedule_is_previewed_made_switched_and_removed(here: Run, tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text(ROWS)
    budgets = {"public": {"epsilon": 1.0}}
    source = {"engine": "duckdb", "uri": "stays.csv"}
    (tmp_path / "stays.json").write_text(
        json.dumps({**STAYS, "source": source, "budgets": budgets})
    )
    assert here("dataset", "register", "stays.json").code == 0
    spec = spec_of(tmp_path).model_dump(mode="json")
    spec["queries"][0]["levels"] = {"public": {"epsilon": 0.5}}
    spec["version"]["budgets"], spec["total"] = budgets, {"public": 5.0}
    (tmp_path / "nightly.json").write_text(json.dumps(spec))
    foreseen = here("schedule", "preview", "nightly.json", "--format", "json")
    assert foreseen.code == 0, foreseen.err
    answer = json.loads(foreseen.out)
    (tier,) = [each for each in answer["tiers"] if each["tier"] == "public"]
    assert (answer["refusal"], tier["by_then"], tier["epsilon"]) == (None, 5.0, 1.0)
    assert here("schedule", "list").err.startswith("There are no schedules")
    made = here("schedule", "create", "nightly.json", *ADMIN)
    assert "nightly is off, for ada" in made.err
    on = here("schedule", "on", "nightly", *ADMIN)
    assert "nightly is next on" in on.err
    assert here("schedule", "remove", "nightly").code == 1
    assert "nightly is off" in here("schedule", "off", "nightly").err
    assert "nightly" in here("schedule", "list").out
    assert here("schedule", "show", "nightly").code == 0
    assert here("schedule", "remove", "nightly").code == 0
    assert here("schedule", "show", "nightly").code == 1


def test_a_preview_says_what_streams_will_have(here: Run, tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text(ROWS)
    budgets = {"public": {"epsilon": 1.0}}
    source = {"engine": "duckdb", "uri": "stays.csv"}
    levels = {"public": {"rho": 0.01}}
    spec = spec_of(tmp_path, queries=[], streams=FEEDS).model_dump(mode="json")
    spec["version"]["budgets"], spec["total"] = budgets, {"public": 500.0}
    files = {
        "stays": {**STAYS, "source": source, "budgets": budgets},
        "daily": {**DAILY, "levels": levels},
        "nightly": spec,
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    assert here("dataset", "register", "stays.json").code == 0
    opened = here("stream", "open", "daily.json")
    assert opened.code == 0, opened.err
    foreseen = here("schedule", "preview", "nightly.json")
    assert foreseen.code == 0, foreseen.err
    said = " ".join((foreseen.out + foreseen.err).split())
    assert "Stream daily has 0 elements and will have 31, at no further charge" in said
    assert "it was charged for people in at most 1 of them; there is no room" in said
    assert "there is no room for the one of" in said
