"""Test ``kill -9`` in the middle of releases.

Nothing lost, nothing changed, nothing to clean up.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.faults import processes, reports
from tests.faults.figures import amounts, figure
from tests.faults.kills import tasks
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import LOG, RELEASE, Steps, chosen, landmarks, missing
from tests.faults.kills.tasks import READER, Flaw, ask_once, keep_asking, no_flaw
from tests.faults.processes import Worker
from tests.faults.reports import Reported
from tests.faults.stage import Ask, analyst, answer, asks, choices, has_been_given, opened

pytestmark = pytest.mark.mainly_postgresql

STRIDE = figure("FAULTS_STRIDE", 32)
QUERIES = 3
FILES = ("told", "errors", "taken")
MOST_ANSWERS = 6
LONGEST_DELAY = 0.015
"""Seconds from the last answer that was waited for to the end: about one release."""


Choose = Callable[[Sequence[str]], Sequence[str]]


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    names = [f"query-{number}" for number in range(QUERIES)]
    return furnish(tmp_path / "home", analysts=2, names=names)


@pytest.mark.each_database
@pytest.mark.parametrize("kills", amounts("FAULTS_KILLS", few=8, many=50))
def test_kills_at_random_moments_lose_and_change_nothing(
    home: Path, tmp_path: Path, kills: int
) -> None:
    patience = choices("patience").integers(MOST_ANSWERS, size=kills)
    delays = choices("delays").uniform(0, LONGEST_DELAY, size=kills)
    with opened(home) as server:
        aftermath = Aftermath(server)
    running: list[tuple[Worker, Path]] = []
    everything: list[Reported] = []
    for number in range(kills):
        # Two run at a time: one is killed while the other writes, and then all are dead.
        if not running:
            running = [_begun(home, tmp_path, number + more) for more in range(2)]
        worker, told = running.pop()
        worker.wait_for_lines(told, int(patience[number]))
        time.sleep(delays[number])
        worker.kill()
        assert worker.was_killed()
        answers = reports.read(told)
        everything += answers
        with opened(home) as server:
            assert aftermath.complaints(server, answers) == []
    for worker, _ in running:
        worker.kill()
    assert len(everything) >= patience.sum()
    with opened(home) as server:
        assert aftermath.final_complaints(server, everything) == []


def _begun(home: Path, folder: Path, number: int) -> tuple[Worker, Path]:
    told, errors = folder / f"told-{number}", folder / f"errors-{number}"
    return processes.start(errors, keep_asking, home, number, QUERIES, told), told


@pytest.fixture
def asked(home: Path) -> Path:
    """Return a home where every level asked for lies between two that are stored already."""
    with opened(home) as server:
        for ask in asks(server, "query-0", [1, 3999]):
            answer(server, analyst(1), ask)
    return home


def _ask(home: Path, rung: int) -> Ask:
    with opened(home) as server:
        (ask,) = asks(server, "query-0", [1 + rung])
    return ask


def _once(home: Path, ask: Ask, at: Steps, flaw: Flaw = no_flaw) -> tuple[bool, list[Reported]]:
    """Let a process ask, and say whether it was killed and what it was told."""
    told, errors, taken = (
        home.parent / f"{kind}-{ask.rung}" for kind in ("told", "errors", "taken")
    )
    worker = processes.start(errors, ask_once, home, ask, at, flaw, told, taken)
    return worker.was_killed(), reports.read(told)


@pytest.mark.parametrize(
    ("choose", "least"),
    [
        pytest.param(partial(landmarks, within=("normal.py",)), 20, id="few"),
        pytest.param(partial(chosen, stride=STRIDE), 50, id="many", marks=pytest.mark.nightly),
    ],
)
def test_a_kill_at_any_step_leaves_the_whole_release_or_nothing(
    asked: Path, tmp_path: Path, choose: Choose, least: int
) -> None:
    home = asked
    everything: list[Reported] = []
    wholes = []
    for rung in (1, 2):
        ask = _ask(home, rung)
        was_killed, answers = _once(home, ask, Steps(RELEASE))
        assert not was_killed
        everything += answers
        wholes.append(json.loads((tmp_path / f"taken-{ask.rung}").read_text()))
    # A leaf in two completes nodes of the tree, and then there are more steps.
    steps = choose(max(wholes, key=len))
    outcomes, died = [], []
    with opened(home) as server:
        aftermath = Aftermath(server)
    for number, step in enumerate(step for step in steps for _ in range(2)):
        if step in died:
            continue
        ask = _ask(home, 3 + number)
        was_killed, answers = _once(home, ask, Steps(RELEASE, step))
        assert len(answers) == (not was_killed)
        with opened(home) as server:
            given = has_been_given(server, READER, ask)
            if was_killed:
                outcomes.append(given)
                died.append(step)
            assert aftermath.complaints(server, answers) == []
            got = answer(server, READER, ask)
            assert got.first != given
            everything.append(Reported.of(READER, ask, got))
    assert len(died) >= least
    assert any(step.startswith("normal.py") for step in died)
    assert missing((*LOG, "before INSERT INTO tree_node"), died) == []
    # One step makes all the difference: before it there is nothing, after it everything.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}
    with opened(home) as server:
        assert aftermath.final_complaints(server, everything) == []


@pytest.mark.each_database
def test_an_answer_before_its_commit_is_found_to_be_lost(asked: Path) -> None:
    home = asked
    with opened(home) as server:
        aftermath = Aftermath(server)
    at = Steps(named="before COMMIT")
    was_killed, answers = _once(home, _ask(home, 1), at, tasks.hasty)
    assert was_killed
    assert len(answers) == 1
    with opened(home) as server:
        assert aftermath.complaints(server, answers) == [f"release {answers[0].release} is lost"]


@pytest.mark.each_database
def test_an_answer_before_its_leaf_has_a_place_is_found_to_be_unlogged(asked: Path) -> None:
    home = asked
    with opened(home) as server:
        aftermath = Aftermath(server)
    _, (told,) = _once(home, _ask(home, 1), Steps(), tasks.unlogged)
    with opened(home) as server:
        complaints = aftermath.complaints(server, [told])
    assert complaints == [f"the log has no place for release {told.release}"]


@pytest.mark.each_database
def test_a_release_in_several_transactions_is_found_to_be_torn(asked: Path) -> None:
    home = asked
    at = Steps(named="before INSERT INTO leaf")
    was_killed, _ = _once(home, _ask(home, 1), at, tasks.piecemeal)
    assert was_killed
    with opened(home) as server:
        complaints = Aftermath(server).complaints(server)
    assert len(complaints) == 1
    assert complaints[0].endswith("was drawn for nobody")
