"""Sixteen processes ask at once: one vector a level, each drawn from its true neighbors."""

from pathlib import Path

import pytest
from tests.faults.findings import NOTHING
from tests.faults.race import Race, run
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.stage import figure, opened
from tests.faults.unguarded import RUNG, SEQ, forging, guarded, unlocked

PROCESSES = figure("FAULTS_RACE_PROCESSES", 16)
LEVELS = figure("FAULTS_RACE_LEVELS", 96)

ONE_QUERY = Race(PROCESSES, queries=1, levels=LEVELS, repeats=1)
MANY_QUERIES = Race(PROCESSES, queries=8, levels=LEVELS // 8, repeats=1)

GATED = Race(processes=16, queries=1, levels=8)
"""Fewer levels than processes: some ask for one level at the same time, come what may."""


@pytest.mark.parametrize("race", [ONE_QUERY, MANY_QUERIES], ids=["one query", "many queries"])
def test_every_reader_of_a_level_gets_one_vector_drawn_from_its_true_neighbors(
    tmp_path: Path, race: Race
) -> None:
    outcome = run(tmp_path, race, guarded)
    assert outcome.answers == race.answers
    assert outcome.findings == NOTHING
    with opened(tmp_path / "home") as server:
        assert broken_rules(server) == []
        assert unproven_values(server) == []


def test_without_the_lock_and_the_uniques_readers_of_a_level_get_several_vectors(
    tmp_path: Path,
) -> None:
    outcome = run(tmp_path, GATED, unlocked, without=[RUNG, SEQ])
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent >= GATED.processes - GATED.levels
    assert outcome.findings.stale > 0


def test_one_vector_a_level_is_not_enough_without_a_unique_seq(tmp_path: Path) -> None:
    outcome = run(tmp_path, GATED, unlocked, without=[SEQ])
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent == 0
    assert outcome.findings.stale > 0


def test_the_uniques_alone_refuse_what_would_be_stale(tmp_path: Path) -> None:
    outcome = run(tmp_path, GATED, unlocked)
    assert outcome.answers == GATED.answers
    assert outcome.findings == NOTHING


def test_neighbors_that_are_recorded_but_were_not_used_are_found_out(tmp_path: Path) -> None:
    outcome = run(tmp_path, GATED, forging)
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent == 0
    assert outcome.findings.stale == 0
    assert outcome.findings.misnumbered == 0
    assert outcome.findings.untrue > 0
