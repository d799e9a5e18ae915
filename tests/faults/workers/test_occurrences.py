"""Test ``kill -9`` while an occurrence is carried out: another process finishes it, once."""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.faults import processes
from tests.faults.figures import figure
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import Steps, chosen
from tests.faults.stage import TIERS
from tests.faults.workers import scheduling
from tests.faults.workers.scheduling import FILES, LATER, SOON, WHOLE, Flaw, Left, Nights

from penstock.services.jobs import queue
from penstock.services.jobs.runner import Runner
from penstock.services.schedules import occurrences

STRIDE = figure("FAULTS_OCCURRENCE_STRIDE", 256)
"""A kill takes a night of the schedule, of which there are ``NIGHTS``: every line has none."""
CHARGED = "before INSERT INTO release, behind"
"""The step at which the version and the first query's charge are stored, and no anchor is."""

HALVES = {
    Left((), 0, 0, 0, 0, 0),
    *(
        Left(("pending",), *rows)
        for rows in (
            (0, 0, 0, 0, 0),
            (1, 0, 0, 0, 0),
            (1, 1, len(TIERS), 0, 0),
            (1, 1, len(TIERS), 1, 0),
            (1, 2, 2 * len(TIERS), 1, 0),
            (1, 2, 2 * len(TIERS), 2, 0),
            (1, 2, 2 * len(TIERS), 2, 1),
        )
    ),
    WHOLE,
}
"""What a killed process may leave: nothing but what comes before, in this order."""


@pytest.fixture
def nights(tmp_path: Path, template: Callable[..., Path]) -> Nights:
    home = template(tmp_path / "home", "scheduled", scheduling.build_schedule)
    return Nights(home, scheduling.first_due(home))


def killed(nights: Nights, night: int, steps: Steps, flaw: Flaw) -> list[str] | None:
    """Let a process look on a night and end at a step; return its steps if it did not end there."""
    taken, errors = (nights.home.with_name(name) for name in ("taken", "errors"))
    now = nights.due(night) + SOON
    looking = processes.start(errors, scheduling.look_once, nights.home, now, steps, flaw, taken)
    return None if looking.was_killed() else list(json.loads(taken.read_text()))


def finished(nights: Nights, night: int, aftermath: Aftermath | None = None) -> Left:
    """Let another process look twice, two minutes later; return what there is of the night."""
    at = nights.due(night)
    server = scheduling.opened_at(nights.home, at + LATER)
    for _ in range(2):
        scheduling.look(server)
    if aftermath is not None:
        assert aftermath.complaints(server) == []
    left = scheduling.left(server, at)
    server.database.close()
    return left


def few(taken: Sequence[str]) -> list[str]:
    """Return every second of the steps before which all that came before is stored."""
    return [step for step in taken if step.startswith("before COMMIT")][::2]


@pytest.mark.parametrize(
    ("files", "choose", "least", "states"),
    [
        # Without the lines as steps, which take three times as long as what they are steps of.
        pytest.param((), few, 5, 3, id="few"),
        pytest.param(
            *(FILES, partial(chosen, stride=STRIDE), 100, len(HALVES)),
            id="many",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_an_occurrence_that_is_killed_at_any_step_is_finished_by_another_process(
    nights: Nights,
    files: tuple[str, ...],
    choose: Callable[[Sequence[str]], Sequence[str]],
    least: int,
    states: int,
) -> None:
    steps = killed(nights, 0, Steps(files), scheduling.no_flaw)
    assert steps is not None
    assert finished(nights, 0) == WHOLE
    server = scheduling.opened_at(nights.home, nights.due(0) + LATER)
    aftermath, died, halves = Aftermath(server), 0, set()
    for night, step in enumerate(choose(steps), start=1):
        died += killed(nights, night, Steps(files, step), scheduling.no_flaw) is None
        halves.add(scheduling.left(server, nights.due(night)))
        assert finished(nights, night, aftermath) == WHOLE, step
    assert died >= least
    assert halves <= HALVES
    assert len(halves) >= states
    assert aftermath.final_complaints(server, []) == []
    server.database.close()


def test_an_occurrence_that_is_done_before_it_is_carried_out_is_found_to_be_lost(
    nights: Nights,
) -> None:
    assert killed(nights, 0, Steps(named=CHARGED), scheduling.hasty) is None
    assert finished(nights, 0) != WHOLE


def test_queries_named_after_the_moment_are_found_not_to_be_finished(nights: Nights) -> None:
    assert killed(nights, 0, Steps(named=CHARGED), scheduling.of_the_moment) is None
    # Charged once all the same: a statistic is not registered under two names.
    assert finished(nights, 0) == Left(("refused",), 1, 1, WHOLE.charges // 2, 0, 0)


@pytest.mark.only("postgresql")
@pytest.mark.nightly
def test_an_occurrence_of_a_killed_worker_of_the_queue_is_finished_by_another(
    nights: Nights,
) -> None:
    at, reached, errors = nights.due(0), nights.home.with_name("reached"), nights.home / "errors"
    server = scheduling.opened_at(nights.home, at + SOON)
    hanging = processes.start(
        errors, scheduling.hang_after_the_charge, nights.home, at + SOON, reached
    )
    while not queue.is_served(server):
        assert hanging.process.is_alive(), hanging.complaint
        time.sleep(0.01)
    occurrences.look(server, Runner(server, patience=0, pulse=None))
    hanging.wait_for_lines(reached, 1)
    hanging.kill()
    assert scheduling.left(server, at) == Left(("pending",), 1, 1, len(TIERS), 0, 0)
    processes.finish([processes.start(errors, scheduling.take_over, nights.home, at + LATER)])
    assert scheduling.left(server, at) == WHOLE
    server.database.close()
