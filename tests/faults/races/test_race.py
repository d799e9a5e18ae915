"""Test processes that ask at once: one vector a level, each drawn from its true neighbors."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.figures import figure
from tests.faults.findings import NOTHING
from tests.faults.races.racing import Outcome, Race, run
from tests.faults.races.unguarded import RUNG, SEQ, forging, guarded, unlocked
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.stage import opened

pytestmark = pytest.mark.mainly_postgresql

PROCESSES = figure("FAULTS_RACE_PROCESSES", 16)
LEVELS = figure("FAULTS_RACE_LEVELS", 96)
QUERIES = 8
"""Of the home, whether a race asks for all of them or for one."""

GATED = Race(processes=6, queries=1, levels=3)
"""Fewer levels than processes: some ask for one level at the same time, come what may."""

Hold = Callable[..., Outcome]


@pytest.fixture
def hold(tmp_path: Path, furnish: Callable[..., Path]) -> Hold:
    """Hold a race in a home of its own."""

    def go(race: Race, *arguments: object, **changes: object) -> Outcome:
        names = [f"query-{number}" for number in range(QUERIES)]
        home = furnish(tmp_path / "home", analysts=race.processes, names=names)
        return run(home, race, *arguments, **changes)  # type: ignore[arg-type]  # passed through

    return go


@pytest.mark.each_database
@pytest.mark.parametrize(
    "race",
    [
        pytest.param(Race(8, queries=1, levels=8, repeats=1), id="one query"),
        pytest.param(Race(8, queries=QUERIES, levels=1, repeats=1), id="many queries"),
        pytest.param(
            Race(PROCESSES, queries=1, levels=LEVELS, repeats=1),
            id="one query, long",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            Race(PROCESSES, queries=QUERIES, levels=LEVELS // QUERIES, repeats=1),
            id="many queries, long",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_every_reader_of_a_level_gets_one_vector_drawn_from_its_true_neighbors(
    hold: Hold, tmp_path: Path, race: Race
) -> None:
    outcome = hold(race, guarded)
    assert outcome.answers == race.answers
    assert outcome.findings == NOTHING
    with opened(tmp_path / "home") as server:
        assert broken_rules(server) == []
        assert unproven_values(server) == []


@pytest.mark.each_database
def test_without_the_lock_and_the_uniques_readers_of_a_level_get_several_vectors(
    hold: Hold,
) -> None:
    outcome = hold(GATED, unlocked, without=[RUNG, SEQ])
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent >= GATED.processes - GATED.levels
    assert outcome.findings.stale > 0


def test_one_vector_a_level_is_not_enough_without_a_unique_seq(hold: Hold) -> None:
    outcome = hold(GATED, unlocked, without=[SEQ])
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent == 0
    assert outcome.findings.stale > 0


def test_the_uniques_alone_refuse_what_would_be_stale(hold: Hold) -> None:
    outcome = hold(GATED, unlocked)
    assert outcome.answers == GATED.answers
    assert outcome.findings == NOTHING


def test_neighbors_that_are_recorded_but_were_not_used_are_found_out(hold: Hold) -> None:
    outcome = hold(GATED, forging)
    assert outcome.answers == GATED.answers
    assert outcome.findings.divergent == 0
    assert outcome.findings.stale == 0
    assert outcome.findings.misnumbered == 0
    assert outcome.findings.untrue > 0
