"""Measure repeats and first releases over HTTP, by clients in processes of their own.

Every run has a home of its own.  Its phases, in this order: eight readers draw levels
that nobody has (first releases); each is handed what another has drawn (stored
releases); eight readers ask again for what they hold, then one alone (repeats); what is
read back by name must be the same.
"""

import hashlib
import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

from tests.benchmarks.database.world import TIERS, World, fresh_world, levels_between
from tests.benchmarks.figures import Figure, Goal, Print
from tests.benchmarks.pairing import median
from tests.benchmarks.served.readers import Ask, Readers, Visit, readers
from tests.benchmarks.served.received import Received
from tests.benchmarks.served.serving import served

REPEAT_GOAL = Goal(5, at_most=True)
REPEATS_GOAL = Goal(200)
FIRST_GOAL = Goal(100)
GOALS_AT = (4, 0.0)
"""Workers and time quantum for which the goals are stated."""


@dataclass(frozen=True)
class Setting:
    """Hold what is served and asked.  A phase ends after ``seconds`` even if asks are left."""

    values: int = 256
    workers: tuple[int, ...] = (4, 1)
    quanta: tuple[float, ...] = (0.0, 0.025)
    clients: int = 8
    queries: int = 20
    levels: int = 40
    repeats: int = 250
    lone_repeats: int = 500
    seconds: float = 20.0


@dataclass(frozen=True)
class Phases:
    """Hold what each phase's readers heard."""

    first: list[Visit]
    stored: list[Visit]
    repeats: list[Visit]
    lone: Visit


def measure(setting: Setting = Setting(), say: Print = print) -> Sequence[Figure]:
    """Return all phases for each number of workers and time quantum."""
    return [
        figure
        for workers in setting.workers
        for quantum in setting.quanta
        for figure in _run(setting, workers, quantum, say)
    ]


def _run(setting: Setting, workers: int, quantum: float, say: Print) -> list[Figure]:
    with fresh_world() as world:
        tokens = _people_and_queries(world, setting)
        received = Received(setting.values)
        with (
            served(world.home, workers, quantum) as port,
            readers(port, tokens) as clients,
        ):
            phases = _phases(setting, clients, received)
    run = f"{workers} worker{'s' if workers > 1 else ''}, quantum {quantum * 1e3:g} ms"
    say(
        f"{run}: {received.answers} answers held {received.vectors} vectors, each the same"
        f" whenever it came; {received.shared} of them went to several readers."
    )
    return _figures(run, phases, goals=(workers, quantum) == GOALS_AT)


def _people_and_queries(world: World, setting: Setting) -> list[str]:
    for number in range(setting.queries):
        world.add_query(_query(number), setting.values)
    names = [f"reader-{number}" for number in range(setting.clients)]
    for name in names:
        world.add_analyst(name)
    return [world.token(name) for name in names]


def _phases(setting: Setting, clients: Readers, received: Received) -> Phases:
    count = setting.clients
    # Every worker has imported and opened everything before the clock runs.
    anchors = [_release(_query(number % setting.queries), {}) for number in range(20)]
    _take(received, clients.ask([anchors] * count, setting.seconds))

    new = _new_levels(setting)
    own = [new[reader::count] for reader in range(count)]
    first = clients.ask(own, setting.seconds)
    names = _take(received, first)
    assert received.vectors >= sum(len(visit.heard) for visit in first), "not all were drawn"

    held = [asks[: len(visit.heard)] for asks, visit in zip(own, first, strict=True)]
    stored = clients.ask(held[1:] + held[:1], setting.seconds)
    repeats = clients.ask(
        [list(islice(cycle(asks), setting.repeats)) for asks in held], setting.seconds
    )
    (lone,) = clients.ask([list(islice(cycle(held[0]), setting.lone_repeats))], setting.seconds)
    read_back = clients.ask([[_values(name) for name in own] for own in names], setting.seconds)
    for visits in (stored, repeats, [lone], read_back):
        _take(received, visits)
    return Phases(first, stored, repeats, lone)


def _query(number: int) -> str:
    return f"query-{number}"


def _release(query: str, body: dict[str, object]) -> Ask:
    return Ask("POST", f"/api/v1/queries/{query}/releases", json.dumps(body))


def _values(name: str) -> Ask:
    return Ask("GET", f"/api/v1/releases/{name}/values")


def _new_levels(setting: Setting) -> list[Ask]:
    """Return levels of all queries that nobody was given yet, in a fixed order that mixes them."""
    bodies: list[dict[str, object]] = [{"level": one} for one in levels_between(setting.levels)]
    bodies += [{"tier": tier} for tier in list(TIERS)[:-1]]
    asks = [_release(_query(number), body) for number in range(setting.queries) for body in bodies]
    return sorted(asks, key=lambda ask: hashlib.sha256(f"{ask}".encode()).digest())


def _take(received: Received, visits: Sequence[Visit]) -> list[list[str]]:
    """Return the names of the releases that each reader heard, all of them checked."""
    return [
        [received.add(reader, heard) for heard in visit.heard]
        for reader, visit in enumerate(visits)
    ]


def _figures(run: str, phases: Phases, *, goals: bool) -> list[Figure]:
    lone = [heard.seconds for heard in phases.lone.heard]
    return [
        median(f"{run}: repeat, one reader", lone, "ms", 1e3, REPEAT_GOAL if goals else None),
        _rate(f"{run}: repeats", phases.repeats, REPEATS_GOAL if goals else None),
        _rate(f"{run}: first releases", phases.first, FIRST_GOAL if goals else None),
        _slowest(f"{run}: first release, 99th percentile", phases.first),
        _rate(f"{run}: stored releases, first time", phases.stored),
    ]


def _rate(name: str, visits: Sequence[Visit], goal: Goal | None = None) -> Figure:
    """Return answers a second, from the first ask to the last answer."""
    span = max(visit.ended for visit in visits) - min(visit.begun for visit in visits)
    return Figure(name, sum(len(visit.heard) for visit in visits) / span, "/s", goal=goal)


def _slowest(name: str, visits: Sequence[Visit]) -> Figure:
    times = sorted(heard.seconds * 1e3 for visit in visits for heard in visit.heard)
    return Figure(name, statistics.quantiles(times, n=100)[-1], "ms")
