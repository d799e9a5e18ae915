"""Test ``penstock query``: sparse histograms are registered, levels moved, queries retired."""

import hashlib
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.program_runs import Run
from tests.unit.sites import VISITS
from tests.web.service_views import error, preview, tier_preview

from penstock.cli.statistics.queries import previewed
from penstock.randomness.stream import Stream
from penstock.services.queries import queries
from penstock.services.schemas.previews import StrategyErrorView, StrategyView

BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 0.001,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "share": 0.5,
}
LOANS: dict[str, Any] = {
    "name": "loans",
    "source": {"engine": "duckdb", "uri": "loans.csv"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {"person": {"type": "string"}, "book": {"type": "integer"}},
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 3}},
}


def test_a_file_becomes_a_table_of_the_keys_that_stand_out(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One table in a thousand has another key than those that stand out, so the noise is fixed."""
    numbers = itertools.count()
    monkeypatch.setattr(
        Stream,
        "fresh",
        lambda **_: Stream.from_key(hashlib.sha256(b"cli %d" % next(numbers)).digest()),
    )
    rows = "".join(f"p{number},{2**64 - 1 - number % 2}\n" for number in range(2000))
    (tmp_path / "loans.csv").write_text("person,book\n" + rows)
    for name, content in (("loans.json", LOANS), ("books.json", BOOKS)):
        (tmp_path / name).write_text(json.dumps(content))
    assert here("dataset", "register", "loans.json").code == 0
    previewed = here("query", "preview", "books.json", "--format", "json")
    assert previewed.json["tiers"][0]["histogram"]["false_keys"] == 0.001
    assert here("query", "register", "books.json").code == 0
    released = here("release", "books", "--as", "ines")
    assert released.code == 0, released.err
    assert str(2**64 - 1) in released.out
    assert "keys with a noisy count above" in released.out + released.err
    answer = here("release", "books", "--as", "ines", "--format", "json").json
    assert answer["keys"] == [2**64 - 2, 2**64 - 1]


def levels(here: Run, folder: Path, content: object) -> tuple[int, str]:
    (folder / "levels.json").write_text(json.dumps(content))
    result = here("query", "levels", "visits", "levels.json", "--format", "json")
    return result.code, result.err


def test_levels_are_moved_and_the_ceiling_raised_with_values(here: Run, tmp_path: Path) -> None:
    assert levels(here, tmp_path, {"levels": {"public": {"epsilon": 0.2}}}) == (0, "")
    finer = {"levels": {"internal": {"epsilon": 0.8}}}
    code, words = levels(here, tmp_path, finer)
    assert (code, "send its exact values again" in words) == (1, True)
    assert levels(here, tmp_path, {**finer, "values": VISITS["values"]}) == (0, "")
    heavy = {"levels": {"public": {"epsilon": 0.79}, "partner": {"epsilon": 0.79}}}
    assert here("dataset", "budget", "sites", "--set", "public=0.7").code == 0
    assert levels(here, tmp_path, heavy)[0] == 3


def test_the_operator_sees_which_state_of_the_rows_was_read(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "  read " not in here("query", "show", "visits").out
    monkeypatch.setattr(queries, "states_of", lambda _: ["PostgreSQL snapshot 812:815:"])
    assert "  read PostgreSQL snapshot 812:815:\n" in here("query", "show", "visits").out


def test_a_retired_query_gives_nothing_more(here: Run) -> None:
    assert here("query", "retire", "visits", "--format", "json").json["status"] == "retired"
    assert here("release", "visits", "--as", "pia").code == 1


def test_a_preview_has_a_line_for_each_strategy_of_a_workload() -> None:
    tiers = [StrategyErrorView("public", error(9.8), 3.7)]
    views = [
        StrategyView(None, requested=True, dimension=80, tiers=tiers),
        StrategyView("tree", requested=False, dimension=84, tiers=tiers),
    ]
    facts = previewed(replace(preview(tier_preview("public", 8.0, 0.25)), strategies=views)).facts
    assert "    tree: ±9.8 (3.7) at public" in facts
    assert any("that of the query" in line and "as requested" in line for line in facts)
