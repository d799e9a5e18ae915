"""Test ``query preview``: what registering would charge, before anything is."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import VISITS


def preview(here: Run, folder: Path, content: object, *more: str) -> Any:
    (folder / "spec.json").write_text(json.dumps(content))
    return here("query", "preview", "spec.json", *more)


def test_a_preview_shows_the_charge_of_each_tier(here: Run, tmp_path: Path) -> None:
    fresh = {name: part for name, part in VISITS.items() if name != "values"}
    shown = preview(here, tmp_path, {**fresh, "name": "fresh", "keys": ["a", "b"]})
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0] == "fresh over sites, version 1, not registered"
    assert lines[1] == f"  2 values, {VISITS['mechanism']} noise in steps of {lines[1].split()[-1]}"
    table = [line.split() for line in lines[lines.index("") + 1 :]]
    assert " ".join(table[0]).endswith("charged share remaining share largest share fits")
    assert {row[0] for row in table[1:]} >= {"public", "internal"}
    assert {row[-1] for row in table[1:]} == {"yes"}


def test_what_does_not_fit_is_said_on_standard_error(here: Run, tmp_path: Path) -> None:
    wanted = {**VISITS, "name": "big", "levels": {"public": {"epsilon": 50}}}
    big = preview(here, tmp_path, wanted)
    assert big.code == 0
    assert "does not allow it" in big.err
    assert " no" in big.out
    refused = here("query", "register", "spec.json")
    assert refused.code == 3
    assert refused.err == f"Error: {big.err}"
    previewed = preview(here, tmp_path, wanted, "--format", "json")
    assert previewed.err == ""
    assert previewed.json["refusal"] + "\n" == big.err


def test_programs_read_the_charge_to_the_last_digit(here: Run, tmp_path: Path) -> None:
    named = preview(here, tmp_path, {"query": "visits"}, "--format", "json").json
    assert named["registered"]
    text = preview(here, tmp_path, {"query": "visits"}, "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["loss"]) for row in rows] == [
        tier["charge"]["loss"] for tier in named["tiers"]
    ]
    assert {row["fits"] for row in rows} == {""}


@pytest.mark.parametrize("content", [{"query": "moon"}, {**VISITS, "dataset": "moon"}])
def test_what_is_not_there_fails(here: Run, tmp_path: Path, content: object) -> None:
    result = preview(here, tmp_path, content)
    assert result.code == 1
    assert "There is no" in result.err


@pytest.mark.slow
def test_levels_that_add_up_are_shown_with_what_they_come_to(here: Run, tmp_path: Path) -> None:
    general = {**VISITS, "name": "general", "mechanism": "generalized_gaussian", "p": 3}
    levels = {"public": {"epsilon": 0.01}, "internal": {"epsilon": 0.02}}
    shown = preview(here, tmp_path, {**general, "levels": levels})
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[1].endswith("p = 3: levels are independent draws, and their losses add up")
    assert lines[3].startswith("  The tiers have 2 levels, which are lossless only with p = 1")
    assert lines[5].endswith("composed epsilon  expected maximum")
    registered = here("query", "register", "spec.json", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(registered.out)))
    assert float(rows[-1]["composed_epsilon"]) > float(rows[-1]["epsilon"])
    alone = here("query", "show", "general").out
    assert "composed epsilon" in alone
    assert "composed epsilon" not in here("query", "show", "visits").out
