"""Test calls that a worker does while their caller waits: the same answers, found again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from tests.databases.homes import PATIENCE
from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.services.jobs.registering import looking_after_the_first
from tests.unit.services.versions import BUDGETS, new_file
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, Forbidden, NameTaken, Unavailable
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import jobs, queue, registrations
from penstock.services.jobs.jobs import WorkView
from penstock.services.jobs.runner import Runner
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.queries import queries, registration
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    DatasetRequest,
    PushedVectorRequest,
    VersionRequest,
)

View = TypeVar("View")

pytestmark = pytest.mark.only("postgresql")


@pytest.fixture
def _served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "is_served", lambda _: True)


def waiting(world: World) -> WorkView:
    """Wait until the caller has handed over its job, and return it."""
    pause = threading.Event()
    while True:
        pieces = jobs.listing(world.server, world.person("ada"))
        if pieces and pieces[0].stage == jobs.WAITING:
            return pieces[0]
        pause.wait(0.01)


def worked(world: World) -> None:
    """Do what waits, as a worker does."""
    kinds = registrations.FOR_WORKERS
    runner = Runner(world.server, pulse=None, host="a worker")
    assert runner.work_on(
        waiting(world).id,
        lambda claim, run: kinds[claim.kind](world.server, claim.principal, claim.fields)(run),
    )


def called(
    world: World, call: Callable[[Server, Principal], View], by: Principal | None = None
) -> View:
    """Return the answer to a call that a worker does."""
    with ThreadPoolExecutor(1) as caller:
        answer = caller.submit(call, world.server, by or world.person("ada"))
        worked(world)
        return answer.result(PATIENCE)


def stays(folder: Path) -> DatasetRequest:
    path = folder / "stays.csv"
    path.write_text(ROWS)
    spec = {**STAYS, "source": {"engine": "duckdb", "uri": str(path)}}
    return DatasetRequest.model_validate(spec)


@pytest.mark.usefixtures("_served")
def test_a_worker_registers_what_a_caller_waits_for(world: World, tmp_path: Path) -> None:
    ada, server = world.person("ada"), world.server
    request, asked = stays(tmp_path), ComputedQueryRequest.model_validate(BY_TOWN)
    made = called(world, lambda server, by: registrations.dataset(server, by, request))
    assert made == datasets.show(server, ada, "stays")
    query = called(world, lambda server, by: registrations.query(server, by, asked))
    assert query == queries.show(server, ada, asked.name)
    source = {"engine": "duckdb", "uri": str(new_file(tmp_path, 2))}
    newer = VersionRequest.model_validate({"source": source, "budgets": BUDGETS})
    assert (
        called(world, lambda server, by: registrations.version(server, by, "stays", newer)).version
        == 2
    )
    # What was answered is forgotten: the same request again is refused as always.
    assert jobs.listing(server, ada) == []
    with pytest.raises(NameTaken):
        called(world, lambda server, by: registrations.query(server, by, asked))
    costly = ComputedQueryRequest.model_validate(
        {**BY_TOWN, "name": "more", "levels": {"internal": {"epsilon": 1000.0}}}
    )
    with pytest.raises(BudgetExhausted):
        called(world, lambda server, by: registrations.query(server, by, costly))


@pytest.mark.usefixtures("_served")
def test_a_worker_is_given_all_that_a_dataset_says_beside_its_spec(
    world: World, tmp_path: Path
) -> None:
    """Without whose people it has, a dataset's losses would add up with nothing."""
    first = stays(tmp_path)
    datasets.register(world.server, OPERATOR, first)
    source = {"engine": "duckdb", "uri": str(new_file(tmp_path, 2))}
    beside = {"same_people_as": "stays", "title": "Stays of one night", "tags": ["nights"]}
    spec = {**STAYS, "name": "nights", "source": source, **beside}
    request = DatasetRequest.model_validate(spec)
    made = called(world, lambda server, by: registrations.dataset(server, by, request))
    assert list(made.same_people_as) == ["stays"]
    assert (made.title, list(made.tags)) == ("Stays of one night", ["nights"])


@pytest.mark.usefixtures("_served")
def test_a_worker_has_no_rights_that_the_callers_token_lacks(world: World, tmp_path: Path) -> None:
    """An admin's token with the scope of analysts registers nothing for other tiers."""
    ada, server = world.person("ada"), world.server
    datasets.register(server, ada, stays(tmp_path))
    both = UserChange(roles=["admin", "analyst"], clearance="internal")
    users.change(server, OPERATOR, "ada", both)
    scoped = replace(ada, roles=frozenset({"analyst"}))
    request = ComputedQueryRequest.model_validate(BY_TOWN)
    with pytest.raises(Forbidden) as refused:
        called(world, lambda server, by: registrations.query(server, by, request), scoped)
    assert queries.listing(server, ada, Window()).items == []
    with pytest.raises(Forbidden) as at_once:
        registration.register(server, scoped, request)
    assert refused.value.detail == at_once.value.detail


@pytest.mark.usefixtures("_served")
def test_what_a_worker_registered_for_a_caller_who_is_gone_is_found_by_repeating(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = stays(tmp_path)

    def gone(*_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registrations, "result_of", gone)
        with pytest.raises(KeyboardInterrupt):
            registrations.dataset(world.server, world.person("ada"), request)
    worked(world)
    monkeypatch.setattr(queue, "is_served", lambda _: False)
    found = registrations.dataset(world.server, world.person("ada"), request)
    assert (found.name, found.version) == ("stays", 1)


@pytest.mark.usefixtures("_served")
def test_the_same_call_twice_at_once_has_the_same_answer_twice(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is second finds no job any more, and not that there is none."""
    until_two_wait = looking_after_the_first(monkeypatch)
    sent = (world.server, world.person("ada"), stays(tmp_path))
    with ThreadPoolExecutor(2) as callers:
        answers = [callers.submit(registrations.dataset, *sent) for _ in range(2)]
        until_two_wait()
        worked(world)
        first, second = (answer.result(PATIENCE) for answer in answers)
    assert first == second


@pytest.mark.usefixtures("_served")
def test_a_caller_whose_worker_died_alone_is_told_and_goes_on_by_repeating(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, ada = stays(tmp_path), world.person("ada")
    refused: list[Unavailable] = []

    def act() -> None:
        with pytest.raises(Unavailable) as problem:
            registrations.dataset(world.server, ada, request)
        refused.append(problem.value)

    caller = threading.Thread(target=act, daemon=True)
    caller.start()
    assert queue.claim(world.server, waiting(world).id, "a worker") is not None
    # It registers the dataset, and dies before it stores that.
    datasets.register(world.server, ada, request)
    monkeypatch.setattr(queue, "is_served", lambda _: False)
    world.clock.forward(minutes=1)
    caller.join(PATIENCE)
    assert "repeat the request" in refused[0].detail
    assert registrations.dataset(world.server, ada, request).name == "stays"


@pytest.mark.usefixtures("_served")
def test_exact_values_are_never_given_to_a_worker(world: World) -> None:
    pushed = PushedVectorRequest.model_validate(VISITS)
    made = registrations.query(world.server, world.person("ada"), pushed)
    assert made.name == "visits"
    assert jobs.listing(world.server, world.person("ada")) == []
