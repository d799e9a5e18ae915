"""Test ``kill -9`` while elements are pushed: a step with its outputs or not at all, drawn once."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.faults import processes
from tests.faults.figures import figure
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import LOG, SEQUENCER, Steps, chosen, landmarks, missing
from tests.faults.kills.structures.stream_tasks import (
    BATCH,
    parted,
    push,
    push_once,
    read_once,
    totals,
)
from tests.faults.kills.tasks import Flaw, no_flaw
from tests.faults.snapshot import snapshot
from tests.faults.stage import build, opened

from penstock.errors import IntegrityViolation
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams
from penstock.services.verification.verification import verify

STRIDE = figure("FAULTS_STRIDE", 32)
READING = ("services/streams/stream_totals.py", "persistence/database.py", *SEQUENCER)
FILES = (
    "services/streams/stream_elements.py",
    "services/streams/sealed_stream.py",
    "persistence/database.py",
    *SEQUENCER,
)
ROOTS: dict[str, Any] = {"structure": "sqrt", "k": None}
BUFFERS: dict[str, Any] = {"structure": "buffered", "k": None, "length": None}
HITS: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "kary",
    "k": 3,
    "length": 5000,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}},
}


def reader_killed(home: Path, at: Steps) -> bool:
    errors, taken = home.parent / "errors-reading", home.parent / "taken-reading"
    return processes.start(errors, read_once, home, at, taken).was_killed()


def killed(home: Path, first: int, at: Steps, flaw: Flaw = no_flaw) -> bool:
    errors, taken = home.parent / f"errors-{first}", home.parent / f"taken-{first}"
    return processes.start(errors, push_once, home, first, at, flaw, taken).was_killed()


def following(server: Server) -> int:
    return streams.show(server, OPERATOR, "hits").next or 0


def with_stream(folder: Path, **changes: Any) -> None:
    build(folder, analysts=2)
    with opened(folder) as server:
        streams.open_stream(server, OPERATOR, StreamRequest.model_validate({**HITS, **changes}))
        push(server, 1)


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path]) -> Path:
    return template(tmp_path / "home", "stream", with_stream)


Choose = Callable[[Sequence[str]], Sequence[str]]


def few_and_many(stride: int) -> pytest.MarkDecorator:
    """Return some of the steps at every change, and every night those of a stride too."""
    many = partial(chosen, stride=stride)
    cases = [
        pytest.param(landmarks, id="few"),
        pytest.param(many, id="many", marks=pytest.mark.nightly),
    ]
    return pytest.mark.parametrize("choose", cases)


@pytest.mark.each_database
@few_and_many(STRIDE)
def test_a_kill_at_any_step_leaves_the_whole_batch_or_nothing(
    home: Path, tmp_path: Path, choose: Choose
) -> None:
    kill_everywhere(home, tmp_path, choose)


@few_and_many(4 * STRIDE)
@pytest.mark.parametrize("changes", [ROOTS, BUFFERS], ids=["roots", "buffers"])
def test_a_kill_leaves_all_noise_of_every_step_or_that_of_before(
    tmp_path: Path, template: Callable[..., Path], choose: Choose, changes: dict[str, Any]
) -> None:
    home = template(tmp_path / "home", changes["structure"], partial(with_stream, **changes))
    kill_everywhere(home, tmp_path, choose)


def kill_everywhere(home: Path, tmp_path: Path, choose: Choose) -> None:
    assert not killed(home, 1 + BATCH, Steps(FILES))
    steps = json.loads((tmp_path / f"taken-{1 + BATCH}").read_text())
    assert any("COMMIT" in name for name in steps)
    with opened(home) as server:
        given = {number: totals(server, number) for number in range(2)}
    outcomes = []
    for step in choose(steps):
        first = 1 + len(given[0])
        assert killed(home, first, Steps(FILES, step))
        with opened(home) as server:
            after = following(server)
            outcomes.append(after != first)
            assert after in (first, first + BATCH)
            if after == first:
                push(server, first)
            for reader, before in given.items():
                now = totals(server, reader)
                assert now[: len(before)] == before
                assert len(now) == len(before) + BATCH
                given[reader] = now
    assert len(outcomes) > 10
    # One step makes all the difference: before it there is nothing, after it everything.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


@few_and_many(2 * STRIDE)
def test_a_kill_at_any_step_of_a_reading_leaves_its_leaf_or_nothing(
    home: Path, tmp_path: Path, choose: Choose
) -> None:
    wholes = []
    for _ in range(2):
        assert not reader_killed(home, Steps(READING))
        wholes.append(json.loads((tmp_path / "taken-reading").read_text()))
    with opened(home) as server:
        given, aftermath = totals(server, 1), Aftermath(server)
    outcomes, died = [], []
    # A leaf in two completes nodes of the tree: each step is waited for twice.
    for step in choose(max(wholes, key=len)):
        for _ in range(2):
            before = readings(home)
            if step in died or not reader_killed(home, Steps(READING, step)):
                continue
            died.append(step)
            outcomes.append(readings(home) - before)
            with opened(home) as server:
                assert totals(server, 1) == given
                assert aftermath.complaints(server) == []
    assert missing((*LOG, "before INSERT INTO tree_node"), died) == []
    # Before the commit there is no leaf, after it there is one.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {0, 1}
    with opened(home) as server:
        assert verify(server, OPERATOR).problems == []


def readings(home: Path) -> int:
    """Return how many leaves tell of a reading of the stream."""
    with opened(home) as server:
        return sum(row["kind"] == "stream" for row in snapshot(server)["leaf"])


@pytest.mark.each_database
def test_a_batch_in_several_transactions_is_found_to_be_torn(home: Path) -> None:
    at = Steps(named="before INSERT INTO stream_output")
    assert killed(home, 1 + BATCH, at, parted)
    with opened(home) as server, pytest.raises(IntegrityViolation, match="do not fit each other"):
        push(server, following(server))
