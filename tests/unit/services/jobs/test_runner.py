"""Test long work behind the answers.

Done once, spoken of, and gone on with where it was stopped.
"""

import subprocess
import sys
import threading
from typing import Any

import pytest
from sqlmodel import select
from tests.databases.homes import PATIENCE
from tests.support.places import ROOT
from tests.support.threads import no_thread_left
from tests.unit.services.jobs.registering import REQUEST, press, registering, runner
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World

from penstock.errors import Conflict, NameTaken, Unavailable
from penstock.persistence.tables import Charge, Dataset, Query, Release
from penstock.services.datasets import datasets
from penstock.services.jobs import jobs
from penstock.services.jobs.runner import INTERNAL, MOST, JobFunction, Run, Runner
from penstock.services.queries import registered, registration
from penstock.services.schemas.queries import DatasetRequest, PushedVectorRequest


def stored(world: World) -> tuple[int, int, int]:
    """Return how many queries, charges and releases there are."""
    with world.server.database.read() as session:
        found = [len(session.exec(select(table)).all()) for table in (Query, Charge, Release)]
    return found[0], found[1], found[2]


class Gate:
    """Stop work in the middle until it is let go."""

    def __init__(self) -> None:
        self.reached, self.open, self.acts = threading.Event(), threading.Event(), 0

    def __call__(self, run: Run) -> str:
        self.acts += 1
        run("counting", 40)
        self.reached.set()
        assert self.open.wait(PATIENCE)
        return "x"


def let_go(gate: Gate, by: Runner) -> None:
    """Wait until nobody works any more, or speaks."""
    gate.open.set()
    for run in list(by._runs.values()):
        assert run.ended.wait(PATIENCE)
    while by._speaking:
        threading.Event().wait(0.01)


def test_what_is_soon_done_is_waited_for(world: World) -> None:
    piece = press(world, runner(world), registering(world))
    assert (piece.state, piece.result, piece.host) == ("done", "visits", "here")
    assert stored(world) == (1, 3, 1)


def test_a_second_press_finds_the_work_that_is_under_way(world: World) -> None:
    gate, hasty = Gate(), runner(world, 0)
    first = press(world, hasty, gate)
    assert gate.reached.wait(PATIENCE)
    hasty.beat()
    second = press(world, hasty, gate)
    assert (second.id, second.state) == (first.id, "running")
    assert (second.stage, second.percent) == ("counting", 40)
    # Also where another process works on it.
    assert press(world, runner(world, 0), gate).id == first.id
    gate.open.set()
    hasty._patience = PATIENCE
    third = press(world, hasty, gate)
    assert (third.id, third.state, gate.acts) == (first.id, "done", 1)


def test_signs_of_life_keep_it_from_being_taken_for_interrupted(world: World) -> None:
    gate, hasty = Gate(), runner(world, 0)
    piece = press(world, hasty, gate)
    for _ in range(5):
        world.clock.forward(seconds=50)
        hasty.beat()
    assert jobs.show(world.server, world.person("ada"), piece.id).state == "running"
    let_go(gate, hasty)


def test_somebody_speaks_by_themselves_while_there_is_work(world: World) -> None:
    gate = Gate()
    speaking = Runner(world.server, patience=0, pulse=0.01)
    piece = press(world, speaking, gate)
    heard = threading.Event()
    while jobs.show(world.server, world.person("ada"), piece.id).percent != 40:
        heard.wait(0.01)
    let_go(gate, speaking)


def test_a_refusal_is_kept(world: World) -> None:
    world.push()
    piece = press(world, runner(world), registering(world))
    assert piece.state == "failed"
    assert isinstance(piece.problem, NameTaken)
    assert stored(world) == (1, 3, 1)


def test_what_nobody_foresaw_is_told_to_the_log_alone(world: World) -> None:
    heard: list[tuple[str, BaseException]] = []

    def act(run: Run) -> str:
        raise ZeroDivisionError("a secret")

    told = Runner(
        world.server,
        patience=PATIENCE,
        pulse=None,
        failed=lambda piece, error: heard.append((piece, error)),
    )
    piece = press(world, told, act)
    assert isinstance(piece.problem, Unavailable)
    assert piece.problem.detail == INTERNAL
    (said,) = heard
    assert said[0] == piece.id
    assert isinstance(said[1], ZeroDivisionError)


def test_a_process_works_on_so_many_pieces(world: World) -> None:
    gate, hasty = Gate(), runner(world, 0)
    names = ("ada", "otto", "pia")
    for number in range(MOST):
        press(world, hasty, gate, str(number), names[number % 3])
    with pytest.raises(Conflict, match="Nothing was started"):
        press(world, hasty, gate, "more", "paul")
    assert press(world, hasty, gate, "0", "ada").state == "running"
    let_go(gate, hasty)


def stop(*_: object) -> None:
    raise SystemExit


def test_a_registration_that_was_stopped_is_gone_on_with_and_charged_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", stop)
        piece = press(world, runner(world), registering(world))
    assert piece.state == "running"
    assert stored(world) == (1, 3, 0)
    world.clock.forward(minutes=1)
    assert jobs.show(world.server, world.person("ada"), piece.id).state == "interrupted"
    again = press(world, runner(world), registering(world))
    assert (again.id, again.state, again.result) == (piece.id, "done", "visits")
    assert stored(world) == (1, 3, 1)


def stopped_at_the_end(act: JobFunction) -> JobFunction:
    def acted(run: Run) -> str:
        act(run)
        raise SystemExit

    return acted


def test_a_query_that_was_registered_before_it_was_said_so_is_found(world: World) -> None:
    act = registering(world)
    press(world, runner(world), stopped_at_the_end(act))
    assert stored(world) == (1, 3, 1)
    world.clock.forward(minutes=1)
    assert press(world, runner(world), act).result == "visits"
    assert stored(world) == (1, 3, 1)


def test_a_dataset_that_was_registered_before_it_was_said_so_is_found(world: World) -> None:
    ada = world.person("ada")
    request = DatasetRequest.model_validate({**SITES, "name": "Other"})

    def act(run: Run) -> str:
        before = registered.dataset(world.server, ada, request) if run.resumed else None
        return before or datasets.register(world.server, ada, request, run).name

    press(world, runner(world), stopped_at_the_end(act))
    world.clock.forward(minutes=1)
    assert press(world, runner(world), act).result == "Other"
    with world.server.database.read() as session:
        assert len(session.exec(select(Dataset)).all()) == 2


@pytest.mark.parametrize(
    ("name", "changes"),
    [("otto", {}), ("ada", {"levels": None, "share": 0.5}), ("ada", {"name": "others"})],
)
def test_what_somebody_else_or_another_spec_registered_is_not_taken_for_it(
    world: World, name: str, changes: dict[str, object]
) -> None:
    registration.register(world.server, world.person("ada"), REQUEST)
    other = PushedVectorRequest.model_validate({**VISITS, **changes})
    assert registered.query(world.server, world.person(name), other) is None
    assert registered.query(world.server, world.person("ada"), REQUEST) == "visits"


CHILD = """
import sys, threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from tests.unit.services.jobs.registering import press, registering, runner
from tests.unit.conftest import Streams, World
from penstock.services.operations import home
from penstock.services.queries import registration
from penstock.settings import Settings

def wait(*_):
    print("charged", flush=True)
    threading.Event().wait()

registration._anchor = wait
clock = lambda: datetime(2026, 1, 1, tzinfo=UTC)
server = home.open_server(Settings(home=Path(sys.argv[1]), log_patience=120.0), clock=clock)
world = World(server, clock, Streams())
press(world, runner(world), registering(world))
"""


@pytest.mark.slow
@pytest.mark.only("sqlite")
def test_a_registration_whose_worker_was_killed_is_gone_on_with_and_charged_once(
    world: World,
) -> None:
    world.server.database.close()
    command = [sys.executable, "-c", CHILD, str(world.server.settings.home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "charged\n"
        child.kill()
    assert stored(world) == (1, 3, 0)
    (piece,) = jobs.listing(world.server, world.person("ada"))
    assert piece.state == "running"
    world.clock.forward(minutes=1)
    again = press(world, runner(world), registering(world))
    assert (again.id, again.attempt, again.state) == (piece.id, 2, "done")
    assert stored(world) == (1, 3, 1)


def test_the_stages_are_told_outside_of_transactions(world: World) -> None:
    heard: list[str] = []

    def told(stage: str, percent: int | None = None, /) -> None:
        with world.server.database.write_unwatched():
            heard.append(stage)

    registration.register(world.server, world.person("ada"), REQUEST, told)
    assert heard == ["computing levels and charges", "drawing noise and sealing"]


def test_a_thread_that_cannot_be_had_leaves_nothing_that_looks_alive(world: World) -> None:
    by = runner(world)

    with no_thread_left(), pytest.raises(RuntimeError):
        press(world, by, registering(world))
    world.clock.forward(minutes=1)
    by.beat()
    assert press(world, by, registering(world)).state == "done"


def test_an_end_that_cannot_be_written_down_frees_the_place(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("made on purpose")

    heard: list[str] = []
    by = Runner(
        world.server, patience=PATIENCE, pulse=None, failed=lambda *told: heard.append(str(told[1]))
    )
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "finish", broken)
        assert press(world, by, registering(world)).state == "running"
    assert by._runs == {}
    assert heard == ["made on purpose"]
    world.clock.forward(minutes=1)
    assert press(world, by, registering(world)).result == "visits"


def test_a_sign_of_life_that_fails_does_not_silence_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    by, gate, spoken = runner(world, patience=0.0), Gate(), threading.Event()
    by._pulse = 0.001
    known, failures = jobs.beat, iter([RuntimeError("made on purpose")])

    def beat(*given: Any) -> None:
        for failure in failures:
            raise failure
        known(*given)
        spoken.set()

    monkeypatch.setattr(jobs, "beat", beat)
    press(world, by, gate)
    assert spoken.wait(PATIENCE)
    let_go(gate, by)
