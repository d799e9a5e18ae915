"""Test two gunicorn masters on one database, asked over HTTP, and a database that goes away."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.databases.cluster import Cluster
from tests.faults.figures import amounts, figure
from tests.faults.findings import NOTHING, examine, served_otherwise
from tests.faults.forks.masters import IMPATIENT, Reader, log_of, masters, readers
from tests.faults.reports import Reported
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.stage import Ask, asks, choices, opened, shuffled, some_rungs

READERS = figure("FAULTS_READERS", 16)
LEVELS = figure("FAULTS_MASTERS_LEVELS", 16)
NAMES = ["query-0", "query-1", "query-2"]

SERVED_BETWEEN_STOPS = 40
REFUSED_IN_A_STOP = 8


def sound(home: Path, answers: Sequence[Reported]) -> None:
    """Require that all answers are stored, drawn from their true neighbors, and given again."""
    with opened(home) as server:
        assert examine(server, answers, is_traced=False) == NOTHING
        assert broken_rules(server) == []
        assert unproven_values(server) == []
        assert served_otherwise(server, answers) == 0


def at_once(readers: Sequence[Reader], act: Callable[[Reader], list[Reported]]) -> list[Reported]:
    """Return what all readers were told."""
    with ThreadPoolExecutor(len(readers)) as pool:
        found = list(pool.map(act, readers))
    for reader in readers:
        reader.close()
    return [told for one in found for told in one]


@pytest.mark.parametrize(
    ("count", "levels", "workers"),
    [
        pytest.param(4, 2, 1, id="few"),
        pytest.param(READERS, LEVELS, 2, id="many", marks=pytest.mark.nightly),
    ],
)
def test_readers_of_two_masters_get_one_vector_a_level(
    tmp_path: Path, furnish: Callable[..., Path], count: int, levels: int, workers: int
) -> None:
    home = furnish(tmp_path / "home", analysts=count, names=NAMES)
    with opened(home) as server:
        wanted = [
            ask for name in NAMES for ask in asks(server, name, some_rungs(levels, "masters"))
        ]

    def act(reader: Reader) -> list[Reported]:
        told = []
        turn = itertools.cycle(ports)
        for again in range(2):
            for ask in shuffled(wanted, "masters", reader.name, again):
                status, answer = reader.ask(next(turn), ask)
                assert status == 200, answer
                told.append(reader.told(ask, answer))
        return told

    with masters(home, 2, workers=workers) as ports:
        answers = at_once(readers(home, count), act)
    assert len(answers) == count * len(wanted) * 2
    sound(home, answers)
    assert "traceback" not in log_of(home).lower()


@pytest.mark.only("postgresql")
@pytest.mark.parametrize("stops", amounts("FAULTS_STOPS", few=1, many=3))
def test_a_database_that_is_stopped_in_mid_request_loses_nothing(
    tmp_path: Path,
    furnish: Callable[..., Path],
    settle: Callable[[], None],
    cluster: Cluster,
    stops: int,
) -> None:
    """Everybody is answered: with the release, or with a 503 that holds no value."""
    home = furnish(tmp_path / "home", analysts=8, names=NAMES)
    settle()
    refusals: Counter[tuple[int, str]] = Counter()
    served: list[int] = []
    over = threading.Event()

    def act(reader: Reader) -> list[Reported]:
        random = choices("stops", reader.name)
        told = []
        while not over.is_set():
            name = NAMES[int(random.integers(len(NAMES)))]
            ask: Ask = ladders[name][int(random.integers(len(ladders[name])))]
            status, answer = reader.ask(port, ask)
            if status == 200:
                told.append(reader.told(ask, answer))
                served.append(1)
            else:
                assert "values" not in answer
                refusals[status, answer["code"]] += 1
        return told

    def wait_for(reached: Callable[[], bool]) -> None:
        while not reached():
            assert not finished.done(), finished.exception()
            over.wait(0.005)

    with opened(home) as server:
        rungs = range(1, 4000)
        ladders = {name: asks(server, name, rungs) for name in NAMES}
    with masters(home, 1, busy_timeout=IMPATIENT) as (port,), ThreadPoolExecutor(1) as pool:
        finished = pool.submit(at_once, readers(home, 8), act)
        try:
            for _ in range(stops):
                goal = len(served) + SERVED_BETWEEN_STOPS
                wait_for(lambda: len(served) >= goal)  # noqa: B023 - waited for in this turn
                cluster.stop()
                refused = refusals.total() + REFUSED_IN_A_STOP
                wait_for(lambda: refusals.total() >= refused)  # noqa: B023 - in this turn
                cluster.start()
        finally:
            over.set()
        answers = finished.result()
    assert set(refusals) == {(503, "DATABASE_UNAVAILABLE")}
    assert len(answers) >= stops * SERVED_BETWEEN_STOPS
    sound(home, answers)
    assert "traceback" not in log_of(home).lower()
