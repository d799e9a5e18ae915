"""Test ``kill -9`` of a worker in the middle of a job: another one goes on with it, once."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults import processes
from tests.faults.stage import TIERS, opened
from tests.faults.workers import working

from penstock.services.access.principals import OPERATOR
from penstock.services.jobs.runner import Runner
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec

pytestmark = pytest.mark.only("postgresql")

WHOLE = (1, len(TIERS), 1)
"""One query, a charge for each tier, and the anchor."""


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    folder = furnish(tmp_path / "home", analysts=2)
    with opened(folder) as server:
        users.create(server, OPERATOR, UserSpec(name=working.ADMIN, roles=["admin"]))
    return folder


def killed_in_the_middle(home: Path, runner: type[Runner], acknowledged: int) -> str:
    """Hand a registration to a worker that is killed after the charge; return its number.

    ``acknowledged`` is how many places the queue may still have when it is killed.
    """
    reached = home.with_name("reached")
    with opened(home) as server:
        piece = working.handed_over(server, "counts")
        worker = processes.start(
            home.with_name("errors"), working.hang_after_the_charge, home, reached, runner
        )
        worker.wait_for_lines(reached, 1)
        while working.waiting(server).taken > acknowledged:
            assert worker.process.is_alive(), worker.complaint
            time.sleep(0.01)
        worker.kill()
        assert working.stored(server) == (1, len(TIERS), 0)
        assert working.view(server, piece).state == "running"
    return piece


def taken_over(home: Path, piece: str) -> bool:
    """Let another worker do what it finds; return whether the job is done, and done once."""
    processes.finish([processes.start(home.with_name("errors"), working.take_over, home)])
    with opened(home) as server:
        view = working.view(server, piece)
        return view.state == "done" and working.stored(server) == WHOLE


def test_a_job_of_a_killed_worker_is_finished_by_another_and_charged_and_drawn_once(
    home: Path,
) -> None:
    piece = killed_in_the_middle(home, Runner, acknowledged=1)
    assert taken_over(home, piece)
    with opened(home) as server:
        view, state = working.view(server, piece), working.waiting(server)
    assert (view.result, view.attempt, state.waiting, state.taken) == ("counts", 2, 0, 0)


def test_a_queue_that_is_acknowledged_before_the_work_is_done_loses_it(home: Path) -> None:
    assert not taken_over(home, killed_in_the_middle(home, working.Hasty, acknowledged=0))


def test_a_worker_that_is_killed_before_it_takes_a_job_loses_nothing(home: Path) -> None:
    with opened(home) as server:
        piece = working.handed_over(server, "counts")
        assert working.waiting(server).waiting == 1
    assert taken_over(home, piece)


def test_a_worker_that_is_told_to_stop_finishes_its_job_and_takes_no_other(home: Path) -> None:
    reached, go = home.with_name("reached"), home.with_name("go")
    with opened(home) as server:
        first = working.handed_over(server, "counts")
        worker = processes.start(
            home.with_name("errors"), working.wait_in_the_middle, home, reached, go
        )
        worker.wait_for_lines(reached, 1)
        second = working.handed_over(server, "more")
        assert worker.process.pid is not None
        os.kill(worker.process.pid, signal.SIGTERM)
        go.touch()
        processes.finish([worker])
        views = [working.view(server, piece) for piece in (first, second)]
        state = working.waiting(server)
    assert [view.state for view in views] == ["done", "running"]
    assert (state.workers, state.waiting, state.taken) == (0, 1, 0)
