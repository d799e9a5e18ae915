"""Test ``kill -9`` while vectors are drawn in chunks: whole or not there, and no key used twice."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from tests.faults import processes, reports
from tests.faults.figures import figure
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import SEQUENCER, Steps, chosen
from tests.faults.kills.structures import long_tasks
from tests.faults.kills.structures.long_attempts import Attempts
from tests.faults.kills.structures.long_tasks import Flaw, no_flaw, noting, on_one_thread
from tests.faults.kills.tasks import READER
from tests.faults.reports import Reported
from tests.faults.stage import (
    Ask,
    analyst,
    answer,
    asks,
    build,
    has_been_given,
    opened,
    vector_query,
)

from penstock.errors import NameTaken
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.long_vectors import attempts, sizes
from penstock.services.queries.registration import register

STRIDE = figure("FAULTS_STRIDE", 32)
FILES = (
    "services/noise/long_vectors/attempts.py",
    "services/noise/long_vectors/drawing.py",
    "services/noise/long_vectors/long_vector.py",
    "services/releases/long_releases.py",
    "services/releases/releases.py",
    "persistence/chunks/folder.py",
    "persistence/database.py",
    *SEQUENCER,
)
BETWEEN = (
    "before flock",
    "before fdatasync",
    "after fdatasync",
    "after fdatasync (3)",
    "before fsync (2)",
    "before COMMIT",
)
"""Steps of every change: before the first chunk, in it, after it, after the last, at the row."""

Choose = Callable[[Sequence[str]], Sequence[str]]


def few(taken: Sequence[str]) -> list[str]:
    """Return a step between any two things that a release in chunks does, and the last one."""
    committed = taken.index("before COMMIT") + 1
    places = {taken.index(step) for step in BETWEEN} | {committed, len(taken) - 1}
    return [taken[place] for place in sorted(places)]


def fewer(taken: Sequence[str]) -> list[str]:
    """Return half of these steps."""
    return few(taken)[::2]


@pytest.fixture
def home(tmp_path: Path, template: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with a query in chunks, of which two levels far apart are stored."""
    place = tmp_path / "home"
    monkeypatch.setattr(sizes, "CHUNK", long_tasks.CHUNK)
    monkeypatch.setattr(attempts, "ChunkDraws", noting(place))

    def with_long_vector(folder: Path) -> None:
        build(folder, analysts=2, names=["long"])
        with opened(folder) as server:
            for ask in asks(server, "long", [1, 3999]):
                answer(server, analyst(1), ask)

    return template(place, "long", with_long_vector)


def an_ask(home: Path, rung: int) -> Ask:
    with opened(home) as server:
        (ask,) = asks(server, "long", [1 + rung])
    return ask


def once(home: Path, ask: Ask, at: Steps, flaw: Flaw = no_flaw) -> tuple[bool, list[Reported]]:
    """Let a process ask, and say whether it was killed and what it was told."""
    told, errors, taken = (
        home.parent / f"{kind}-{ask.rung}" for kind in ("told", "errors", "taken")
    )
    worker = processes.start(errors, long_tasks.ask_once, home, ask, at, flaw, told, taken)
    return worker.was_killed(), reports.read(told)


@pytest.mark.parametrize(
    ("choose", "least"),
    [
        pytest.param(few, 8, id="few"),
        pytest.param(partial(chosen, stride=STRIDE), 50, id="many", marks=pytest.mark.nightly),
    ],
)
def test_a_kill_between_chunks_leaves_the_whole_release_or_nothing(
    home: Path, tmp_path: Path, choose: Choose, least: int
) -> None:
    first = an_ask(home, 1)
    was_killed, everything = once(home, first, Steps(FILES))
    assert not was_killed
    taken = json.loads((tmp_path / f"taken-{first.rung}").read_text())
    chunks, outcomes, died = Attempts(home), [], []
    with opened(home) as server:
        aftermath = Aftermath(server)
    for number, step in enumerate(choose(taken)):
        ask = an_ask(home, 2 + number)
        was_killed, answers = once(home, ask, Steps(FILES, step))
        assert len(answers) == (not was_killed)
        with opened(home) as server:
            on_one_thread(server)
            given = has_been_given(server, READER, ask)
            if was_killed:
                outcomes.append(given)
                died.append(step)
            assert aftermath.complaints(server, answers) + chunks.complaints(server) == []
            got = answer(server, READER, ask)
            assert got.first != given
            everything.append(Reported.of(READER, ask, got))
            assert chunks.complaints(server) == []
            # What the dead left is gone with the next draw, and nothing else is.
            assert given or chunks.left() == chunks.named(server)
    assert len(died) >= least
    # One step makes all the difference: before it there is nothing, after it everything.
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}
    with opened(home) as server:
        assert aftermath.final_complaints(server, everything) == []


@pytest.mark.parametrize(
    ("flaw", "step", "complaint"),
    [
        (long_tasks.sharing_a_sealing_key, "after fdatasync", "two attempts share a sealing key"),
        (long_tasks.sharing_a_noise_key, "after fdatasync", "two attempts share a noise key"),
        (long_tasks.writing_chunks_last, "committed", "is missing"),
    ],
)
def test_drawing_that_is_not_safe_when_it_is_killed_is_found_out(
    home: Path, tmp_path: Path, flaw: Flaw, step: str, complaint: str
) -> None:
    """Killed until it is found: at the second time one repeats what the first one used."""
    assert not once(home, an_ask(home, 1), Steps(FILES))[0]
    taken = json.loads((tmp_path / f"taken-{an_ask(home, 1).rung}").read_text())
    chunks = Attempts(home)
    found: list[str] = []
    at = taken[taken.index("before COMMIT") + 1] if step == "committed" else step
    for number in range(2):
        if not found:
            assert once(home, an_ask(home, 2 + number), Steps(FILES, at), flaw)[0]
            with opened(home) as server:
                found = chunks.complaints(server)
    assert any(complaint in told for told in found)


@pytest.mark.parametrize(
    ("choose", "least"),
    [
        pytest.param(fewer, 4, id="few"),
        pytest.param(partial(chosen, stride=STRIDE), 40, id="many", marks=pytest.mark.nightly),
    ],
)
def test_a_killed_registration_draws_its_anchor_under_other_keys(
    home: Path, tmp_path: Path, choose: Choose, least: int
) -> None:
    assert not registered(home, "whole", Steps(FILES))
    taken = json.loads((tmp_path / "taken-whole").read_text())
    chunks, died = Attempts(home), 0
    with opened(home) as server:
        aftermath = Aftermath(server)
    for number, step in enumerate(choose(taken)):
        name = f"query-{number}"
        died += registered(home, name, Steps(FILES, step))
        with opened(home) as server:
            on_one_thread(server)
            assert aftermath.complaints(server) + chunks.complaints(server) == []
            with suppress(NameTaken):
                register(server, OPERATOR, vector_query(name, "laplace"))
            assert aftermath.complaints(server) + chunks.complaints(server) == []
            (ask,) = asks(server, name, [1])
            assert answer(server, READER, ask).first
            assert chunks.left() == chunks.named(server)
    assert died >= least
    with opened(home) as server:
        assert aftermath.final_complaints(server, []) == []


def registered(home: Path, name: str, at: Steps) -> bool:
    """Let a process register, and say whether it was killed."""
    errors, taken = (home.parent / f"{kind}-{name}" for kind in ("errors", "taken"))
    return processes.start(errors, long_tasks.register_once, home, name, at, taken).was_killed()
