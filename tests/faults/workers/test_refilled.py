"""Test ``kill -9`` in nights that read one file: each opens a version, and none takes another's."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults import processes
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import Steps
from tests.faults.workers import refilling, scheduling
from tests.faults.workers.refilling import WHOLE, Refilled
from tests.faults.workers.scheduling import LATER, SOON, Flaw, Left

from penstock.connectors.duckdb.connector import Files
from penstock.services.schedules import occurrences

UNCHANGED = Left(("skipped",), 0, 0, 0, 0, 0)


@pytest.fixture
def nights(tmp_path: Path, template: Callable[..., Path]) -> Refilled:
    home = template(tmp_path / "home", "refilled", refilling.build_refilled)
    return refilling.refilled(home)


def killed(nights: Refilled, night: int, steps: Steps, flaw: Flaw) -> list[str] | None:
    """Let a process look on a night and end at a step; return its steps if it did not end there."""
    taken, errors = (nights.home.with_name(name) for name in ("taken", "errors"))
    now = nights.due(night) + SOON
    looking = processes.start(errors, scheduling.look_once, nights.home, now, steps, flaw, taken)
    return None if looking.was_killed() else list(json.loads(taken.read_text()))


def finished(nights: Refilled, night: int) -> tuple[int | None, Left]:
    """Let another process look twice; return the night's version, and what there is of it."""
    at = nights.due(night)
    server = scheduling.opened_at(nights.home, at + LATER)
    aftermath = Aftermath(server)
    for _ in range(2):
        scheduling.look(server)
    assert aftermath.complaints(server) == []
    left = refilling.left(server, at)
    assert left[0] in (refilling.newest(server), None)
    server.database.close()
    return left


@pytest.fixture
def taken_for_a_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process, too, take files as PostgreSQL takes views."""
    for name in refilling.TAKEN:
        monkeypatch.setattr(Files, name, vars(Files)[name])
    refilling.unrecognized()


def steps_of(nights: Refilled, flaw: Flaw) -> list[str]:
    """Return the commits of a night that nothing ends, and every one of which is a step."""
    nights.refill(1)
    taken = killed(nights, 0, Steps(()), flaw)
    assert taken is not None
    assert finished(nights, 0) == (2, WHOLE)
    return [step for step in taken if step.startswith("before COMMIT")]


def test_every_night_of_a_view_opens_one_version_wherever_it_is_killed(
    nights: Refilled, taken_for_a_view: None
) -> None:
    """Whether it was refilled or not: the versions have one spec and one fingerprint."""
    commits, halves = steps_of(nights, refilling.unrecognized), set()
    for night, step in enumerate(commits[1::2], start=1):
        if night % 2:
            nights.refill(night)
        assert killed(nights, night, Steps((), step), refilling.unrecognized) is None
        server = scheduling.opened_at(nights.home, nights.due(night) + LATER)
        halves.add(refilling.left(server, nights.due(night))[1])
        server.database.close()
        assert finished(nights, night) == (2 + night, WHOLE), step
    assert len(halves) >= 3


def test_a_night_that_was_not_refilled_is_skipped_wherever_it_is_killed(nights: Refilled) -> None:
    commits = steps_of(nights, scheduling.no_flaw)
    for night, step in enumerate(commits[:6:2], start=1):
        killed(nights, night, Steps((), step), scheduling.no_flaw)
        assert finished(nights, night) == (None, UNCHANGED), step
    nights.refill(2)
    assert finished(nights, 5) == (3, WHOLE)


def test_a_version_that_is_known_by_its_spec_is_taken_for_that_of_a_later_night(
    nights: Refilled, taken_for_a_view: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps_of(nights, refilling.unrecognized)
    monkeypatch.setattr(occurrences, "_open_version", occurrences._open_version)
    refilling.by_its_spec()
    assert finished(nights, 1) != (3, WHOLE)
