"""Test ``penstock dataset same-people``: one table twice, and the budgets of both added up."""

import json
from pathlib import Path

from tests.unit.cli.data.stays import SPEC
from tests.unit.cli.program_runs import Run

ROWS = "person,town\np1,north\n"


def test_a_table_with_one_newline_more_is_declared_to_be_of_the_same_people(
    here: Run, tmp_path: Path
) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"stays-{number}.csv").write_text(ROWS + "\n" * number)
        spec = {**SPEC, "name": f"s{number}"}
        spec["source"] = {"engine": "duckdb", "uri": f"stays-{number}.csv"}
        spec |= {"same_people_as": "s1"} if number == 3 else {}
        (tmp_path / f"s{number}.json").write_text(json.dumps(spec))
    assert here("dataset", "register", "s1.json").err.count("same-people") == 0
    assert "`penstock dataset same-people s2 s1`" in here("dataset", "register", "s2.json").err
    third = here("dataset", "register", "s3.json")
    assert third.code == 0
    assert "the same people as s1: losses add up" in third.out
    looked = here("dataset", "same-people", "s2", "s3", "--preview", "--format", "json")
    tier, *_ = json.loads(looked.out)["tiers"]
    assert [tier[name]["epsilon"] for name in ("granted", "granted_there")] == [1, 2]
    assert tier["granted_together"]["epsilon"] == 3
    assert "the same people as" not in here("dataset", "show", "s2").out
    assert "the same people as s1, s3" in here("dataset", "same-people", "s2", "s3").out
    shown = here("dataset", "budget", "s1").out
    assert "epsilon 0 of 3 spent over all versions" in shown
    assert "datasets of the same people" in shown
    assert "declared already" in here("dataset", "same-people", "s1", "s2").err
