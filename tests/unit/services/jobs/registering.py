"""Provide the work that the tests of runners do, also in a process of its own: a registration."""

import threading
from collections.abc import Callable

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency, jobs
from penstock.services.jobs.jobs import JobRequest, WorkView
from penstock.services.jobs.runner import JobFunction, Run, Runner
from penstock.services.queries import registered, registration
from penstock.services.schemas.queries import PushedVectorRequest

REQUEST = PushedVectorRequest.model_validate(VISITS)


def runner(world: World, patience: float = PATIENCE) -> Runner:
    return Runner(world.server, patience=patience, pulse=None, host="here")


def press(
    world: World, by: Runner, act: JobFunction, key: str = "k", name: str = "ada"
) -> WorkView:
    print_ = idempotency.fingerprint(world.server, b"x")
    return by.start(world.person(name), JobRequest("register_query", key, print_, "a=b", "x"), act)


def registering(world: World) -> JobFunction:
    ada = world.person("ada")

    def act(run: Run) -> str:
        before = registered.query(world.server, ada, REQUEST) if run.resumed else None
        return before or registration.register(world.server, ada, REQUEST, run).name

    return act


def looking_after_the_first(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let all callers but the first look at their job when it was forgotten.

    Return what waits until two callers have a job.
    """
    wait, callers, pause = jobs.wait, list[int](), threading.Event()

    def late(server: Server, principal: Principal, piece: str, patience: float) -> WorkView:
        caller = threading.get_ident()
        if caller not in callers:
            callers.append(caller)
        while caller != callers[0] and jobs.listing(server, principal):
            pause.wait(0.01)
        return wait(server, principal, piece, patience)

    def until_two_wait() -> None:
        while len(callers) < 2:
            pause.wait(0.01)

    monkeypatch.setattr(jobs, "wait", late)
    return until_two_wait
