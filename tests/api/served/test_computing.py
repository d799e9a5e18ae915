"""Test a server whose processes for computations hang: it answers whatever else is asked."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from os import kill
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input.stage import furnished_home
from tests.api.served.serving import ASK, PATIENCE, Serving, serve_copy
from tests.api.world import QUERY
from tests.databases.homes import Homes

PREVIEW = "/api/v1/queries/preview"
PEOPLE = ("one", "two", "three", "four")
AT_ONCE = 16


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serving]:
    """Provide gunicorn with one worker, and an admin's token."""
    made, _ = furnished_home(tmp_path / "home")
    serving = serve_copy(Homes(None), made, tmp_path / "running", "root", workers=1)
    yield serving
    if serving.process is not None and serving.process.poll() is None:
        serving.stop(signal.SIGTERM)


def below(process: int) -> list[int]:
    """Return the processes that one started."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def children(serving: Serving) -> list[int]:
    assert serving.process is not None
    return [child for worker in below(serving.process.pid) for child in below(worker)]


@contextmanager
def hanging(serving: Serving) -> Iterator[None]:
    """Stop whoever computes, as a computation without an end would keep them."""
    stopped = children(serving)
    assert stopped
    for child in stopped:
        kill(child, signal.SIGSTOP)
    try:
        yield
    finally:
        for child in stopped:
            kill(child, signal.SIGCONT)


def wait(condition: Callable[[], object]) -> None:
    pause = threading.Event()
    while not condition():
        pause.wait(0.02)


def preview(serving: Serving, number: int, token: str) -> tuple[int, Any]:
    own = Serving(serving.home, {}, serving.port, token)
    return own.ask("POST", PREVIEW, {**QUERY, "name": f"planned {number}"})


def by(done: list["Future[tuple[int, Any]]"], status: int) -> list[Any]:
    """Return the answers of a status that are there already."""
    return [one.result()[1] for one in done if one.done() and one.result()[0] == status]


def invited(serving: Serving, name: str) -> str:
    """Return a token of a new admin."""
    serving.ask("POST", "/api/v1/users", {"name": name, "roles": ["admin"]})
    token: str = serving.ask("POST", f"/api/v1/users/{name}/tokens", {})[1]["token"]
    return token


def test_others_are_answered_while_every_computation_hangs(served: Serving) -> None:
    tokens = [invited(served, name) for name in PEOPLE]
    assert preview(served, 0, served.token)[0] == 200
    with ThreadPoolExecutor(2 * AT_ONCE) as threads:
        with hanging(served):
            own = [threads.submit(preview, served, n, tokens[0]) for n in range(1, AT_ONCE)]
            wait(lambda: len(by(own, 429)) == AT_ONCE - 2)
            others = [threads.submit(preview, served, 99, token) for token in tokens[1:]]
            wait(lambda: by(others, 503))
            assert served.ask("GET", "/healthz")[0] == 200
            assert served.ask("GET", "/api/v1/me")[0] == 200
            assert served.ask("POST", ASK, {})[0] == 403  # an admin is answered, and refused
            assert [one["code"] for one in by(others, 503)] == ["BUSY"]
        answers = [one.result(PATIENCE)[0] for one in own + others]
    assert sorted(answers) == [200] * 3 + [429] * (AT_ONCE - 2) + [503]
    assert preview(served, 100, tokens[3])[0] == 200
    stopped_without_a_trace(served, signal.SIGTERM)


@pytest.mark.nightly
def test_no_process_is_left_behind_by_a_server_that_is_killed(served: Serving) -> None:
    stopped_without_a_trace(served, signal.SIGKILL)


def stopped_without_a_trace(served: Serving, number: int) -> None:
    assert preview(served, 0, served.token)[0] == 200
    left = children(served)
    assert left
    served.stop(number)
    wait(lambda: not any(Path(f"/proc/{child}").exists() for child in left))
