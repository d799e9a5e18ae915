"""Test ``kill -9`` while a level of a sparse histogram is drawn: report and state, or neither."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sqlmodel import select
from tests.faults import processes
from tests.faults.figures import figure
from tests.faults.kills.steps import LOG, SEQUENCER, Steps, chosen, landmarks, missing
from tests.faults.kills.structures.histogram_tasks import ask, ask_once, with_histogram
from tests.faults.stage import opened

from penstock.persistence.tables import HistogramState, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.verification.verification import verify

STRIDE = figure("FAULTS_STRIDE", 16)
FILES = (
    "services/releases/releases.py",
    "services/releases/stored_hand_outs.py",
    "services/noise/sealed_histogram.py",
    "persistence/database.py",
    *SEQUENCER,
)


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path]) -> Path:
    return template(tmp_path / "home", "histogram", with_histogram)


def killed(home: Path, epsilon: float, at: Steps) -> bool:
    errors, taken = home.parent / f"errors-{epsilon}", home.parent / "taken"
    return processes.start(errors, ask_once, home, epsilon, at, taken).was_killed()


def stored(server: Server) -> tuple[int, int, int]:
    """Return how many releases there are, and the newest one by the query and by the state."""
    with server.database.read() as session:
        found = session.exec(select(Release)).all()
        query, state = session.exec(select(Query)).one(), session.exec(select(HistogramState)).one()
        return len(found), query.seq, state.seq


def some(places: list[str], count: int) -> list[str]:
    """Return some of the steps, and all of the log's: each leaves a level, and these are few."""
    found = {*places[:: len(places) // count], places[-1]}
    return [step for step in places if step in found or step.startswith((*LOG, "before COMMIT"))]


def few(taken: Sequence[str]) -> list[str]:
    return some(landmarks(taken), 3)


def many(taken: Sequence[str]) -> list[str]:
    return some(chosen(taken, STRIDE), 7)


@pytest.mark.parametrize("choose", [few, pytest.param(many, marks=pytest.mark.nightly)])
def test_a_kill_at_any_step_leaves_report_and_state_or_neither(
    home: Path, tmp_path: Path, choose: Callable[[Sequence[str]], list[str]]
) -> None:
    wholes = []
    for epsilon in (0.9, 0.88):
        assert not killed(home, epsilon, Steps(FILES))
        wholes.append(json.loads((tmp_path / "taken").read_text()))
    outcomes, died = [], []
    for place, step in enumerate(choose(max(wholes, key=len))):
        epsilon = round(0.85 * 0.97**place, 4)
        with opened(home) as server:
            before, known = stored(server), ask(server, 0.9)
        was_killed = killed(home, epsilon, Steps(FILES, step))
        with opened(home) as server:
            after = stored(server)
            if was_killed:
                outcomes.append(after != before)
                died.append(step)
            assert after in (before, tuple(one + 1 for one in before))
            drawn = ask(server, epsilon)
            assert stored(server) == tuple(one + 1 for one in before)
            assert drawn.histogram is not None
            again = ask(server, 0.9)
            assert again.values.tolist() == known.values.tolist()
            assert verify(server, OPERATOR).problems == []
    assert missing(LOG, died) == []
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}
