"""Test ``penstock dataset check``: what it costs first, then the share, as a user is given it."""

import json
from pathlib import Path

from tests.unit.cli.program_runs import Run

ROWS = "person,town\n" + "".join(f"p{n},{'north' if n % 4 else 'nord'}\n" for n in range(400))
SPEC = {
    "name": "stays",
    "source": {"engine": "duckdb", "uri": "stays.csv"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north"]},
    },
    "budgets": {"public": {"epsilon": 4}},
}


def test_a_declaration_is_checked_for_what_it_says_that_it_costs(here: Run, tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text(ROWS)
    (tmp_path / "stays.json").write_text(json.dumps(SPEC))
    assert here("dataset", "register", "stays.json").code == 0
    looked = here("dataset", "check", "stays", "town", "--preview", "--format", "json")
    assert looked.code == 0, looked.err
    assert json.loads(looked.out)["registered"] is False
    assert "stays town uncategorized" not in here("query", "list").out
    answered = here(
        *("dataset", "check", "stays", "town"),
        *("--epsilon", "2", "--as", "pia", "--format", "json"),
    )
    assert answered.code == 0, answered.err
    release = json.loads(answered.out)
    assert release["guarantee"]["epsilon"] <= 2
    # One interval of 95% in twenty misses; at six of its half widths a miss is below 1e-6.
    reach = 6 * (release["mean"]["upper"][0] - release["mean"]["lower"][0]) / 2
    assert abs(release["values"][0] - 0.25) <= reach < 0.25, release["mean"]
    again = here("dataset", "check", "stays", "town", "--epsilon", "0.5")
    assert "registered already, as query 'stays town uncategorized'; use that one" in again.err
    column = {"type": "string", "categories": ["north", "nord"]}
    (tmp_path / "better.json").write_text(json.dumps({"columns": {"town": column}}))
    assert here("dataset", "correct", "stays", "better.json").code == 0
    again = here("dataset", "check", "stays", "town", "--epsilon", "0.5", "--format", "json")
    assert json.loads(again.out)["name"] == "stays town uncategorized 2"
    assert here("dataset", "check", "stays", "person").code == 1
