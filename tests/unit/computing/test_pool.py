"""Test the pool.

Bounded in number, time and memory, one thing for each person, nothing carried over.
"""

import os
import signal
import threading

import pytest
from tests.unit.computing.pools import BOUNDS, MEBIBYTE, PATIENCE, Hold, MakePool, Notes

from penstock.computing import Bounds, Outcome
from penstock.errors import Busy, InvalidInput, TooManyRequests, Unavailable

SHORT = Bounds(seconds=0.2, memory=BOUNDS.memory)
LITTLE = Bounds(seconds=30.0, memory=256 * MEBIBYTE)


def test_a_person_has_one_computation_at_a_time(make_pool: MakePool, hold: Hold) -> None:
    pool = make_pool(processes=2)
    gate = hold(pool, "ada").wait()
    with pytest.raises(TooManyRequests, match="each person may run one at a time"):
        pool.run("ada", "fill", 1)
    assert pool.run("paul", "fill", 1) == 1
    assert gate.let_go() == "let go"
    assert pool.run("ada", "fill", 1) == 1


def test_one_request_waits_for_its_persons_turn_and_a_second_does_not(
    make_pool: MakePool, hold: Hold
) -> None:
    pool = make_pool()
    gate = hold(pool, "ada").wait()
    answers: list[object] = []
    waiting = threading.Thread(
        target=lambda: answers.append(pool.run("ada", "fill", 2, PATIENCE)), daemon=True
    )
    waiting.start()
    while "ada" not in pool._waiting:
        threading.Event().wait(0.01)
    with pytest.raises(TooManyRequests):
        pool.run("ada", "fill", 3, PATIENCE)
    gate.let_go()
    waiting.join(PATIENCE)
    assert answers == [2]


def test_no_more_wait_than_may(make_pool: MakePool, hold: Hold, notes: Notes) -> None:
    pool = make_pool(processes=1, queue=1)
    first = hold(pool, "ada").wait()
    second = hold(pool, "paul")
    while pool._inside < 2:
        threading.Event().wait(0.01)
    with pytest.raises(Busy, match="1 wait, its limit"):
        pool.run("ines", "fill", 1)
    assert notes == [("ines", Outcome.BUSY)]
    assert (first.let_go(), second.let_go()) == ("let go", "let go")
    assert pool.run("ines", "fill", 1) == 1


@pytest.mark.parametrize(
    ("bounds", "job", "asked", "error", "words", "outcome"),
    [
        (SHORT, "spin", None, InvalidInput, "COMPUTING_SECONDS", Outcome.OVERTIME),
        (LITTLE, "fill", 512 * MEBIBYTE, InvalidInput, "256 MiB", Outcome.OUT_OF_MEMORY),
        (BOUNDS, "die", None, Unavailable, "ended before it was done", Outcome.DIED),
    ],
    ids=["time", "memory", "death"],
)
def test_a_child_that_exceeds_a_bound_or_dies_is_replaced(
    make_pool: MakePool,
    notes: Notes,
    bounds: Bounds,
    job: str,
    asked: object,
    error: type[Exception],
    words: str,
    outcome: Outcome,
) -> None:
    pool = make_pool(bounds=bounds)
    before = pool.run("ada", "surroundings", None)["pid"]
    with pytest.raises(error, match=words):
        pool.run("ada", job, asked)
    assert pool.children == []
    after = pool.run("ada", "surroundings", None)["pid"]
    assert before != after
    assert notes == [("ada", Outcome.DONE), ("ada", outcome), ("ada", Outcome.DONE)]
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_without_the_bounds_they_would_go_on(make_pool: MakePool) -> None:
    """What the bounds refuse is refused for its size alone."""
    assert make_pool().run("ada", "fill", 512 * MEBIBYTE) == 512 * MEBIBYTE


def test_a_child_that_was_killed_while_it_was_idle_is_not_missed(make_pool: MakePool) -> None:
    pool = make_pool()
    pool.run("ada", "fill", 1)
    [child] = pool.children
    os.kill(child, signal.SIGKILL)
    while pool._idle[0].alive:
        threading.Event().wait(0.01)
    assert pool.run("ada", "fill", 2) == 2
    assert pool.children != [child]


def test_a_refusal_is_the_jobs_own(make_pool: MakePool) -> None:
    with pytest.raises(InvalidInput, match=r"No\.") as refused:
        make_pool().run("ada", "refuse", None)
    assert refused.value.errors == (("/here", "No."),)
    assert refused.value.data == {"largest": 3}


def test_nothing_is_remembered_from_one_person_to_the_next(make_pool: MakePool) -> None:
    pool = make_pool()
    assert pool.run("ada", "remember", "a") == ["a"]
    assert pool.run("ada", "remember", "b") == ["a", "b"]
    assert pool.run("paul", "remember", "c") == ["c"]
    assert pool.run("ada", "remember", "d") == ["d"]


def test_a_fork_has_children_of_its_own(make_pool: MakePool) -> None:
    pool = make_pool()
    own = pool.run("ada", "surroundings", None)["pid"]
    pool._process -= 1  # as a fork finds it
    assert pool.run("ada", "surroundings", None)["pid"] != own
    os.kill(own, signal.SIGKILL)
