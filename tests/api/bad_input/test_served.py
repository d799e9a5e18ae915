"""Test bad input to a running server: bytes that are not a request, and faults below HTTP."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input import raw
from tests.api.bad_input.faults import BUSY_TIMEOUT, LIVE, REQUESTS, Fault, Place
from tests.api.bad_input.snapshot import tables
from tests.api.bad_input.stage import CANARY, Furnished, furnished_home, set_up
from tests.api.bad_input.tables import asking
from tests.api.bad_input.verdict import FOREIGN
from tests.api.served.serving import CONFIGURATION, PATIENCE, Serving, serve_copy
from tests.api.served.under_load.readers import has_home
from tests.databases.homes import Homes


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Return a home to be copied."""
    return furnished_home(tmp_path_factory.mktemp("furnished") / "home")


def wait_for_both(serving: Serving) -> None:
    """Wait until each worker has opened the database: one on a broken home stops all."""
    assert serving.process is not None
    master = serving.process.pid
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        if [has_home(int(child)) for child in children] == [True, True]:
            return
        time.sleep(0.05)
    raise AssertionError((serving.home / "log").read_text())


@pytest.fixture(scope="module")
def served(
    model: Furnished, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Serving, Place]]:
    """Yield gunicorn with two workers, and its home."""
    folder = tmp_path_factory.mktemp("served")
    made = set_up(model, folder, Homes(None))
    made.world.server.database.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_BUSY_TIMEOUT", str(BUSY_TIMEOUT))
        serving = serve_copy(Homes(None), made.home, folder / "running")
    wait_for_both(serving)
    yield serving, Place(serving.home, made.file)
    serving.stop(signal.SIGTERM)


@pytest.mark.parametrize("row", raw.ROWS, ids=lambda row: row.name)
def test_bytes_that_are_no_request_get_a_problem_and_leave_the_server_well(
    served: tuple[Serving, Place], row: raw.Bytes
) -> None:
    serving, place = served
    before = tables(place.database)
    answer = raw.exchange(serving.port, row.data.replace(b"TOKEN", serving.token.encode()))
    raw.judge_answer(answer, row.status)
    assert tables(place.database) == before
    assert serving.ask("GET", raw.ME)[0] == 200
    log = (serving.home / "log").read_text()
    assert "traceback" not in log.lower()
    assert serving.token not in log
    assert CANARY not in log


@pytest.mark.parametrize(
    "fault", [fault for fault in LIVE if "ready" in fault.refused], ids=lambda fault: fault.name
)
def test_what_breaks_under_gunicorn_is_told_and_heals(
    served: tuple[Serving, Place], fault: Fault
) -> None:
    serving, place = served
    first = serving.ask("POST", asking.ASK, {})
    assert first[0] == 200
    with fault.harm(place):
        # A worker that has not needed its keys yet continues with those that it read.
        others = ("repeat", "first") if fault.code != "KEYS_UNAVAILABLE" else ()
        for name in ("ready", *[name for name in others if name in fault.refused]):
            request = REQUESTS[name]
            status, problem = serving.ask(request.verb, request.path, request.body)
            assert (status, problem["code"]) == (503, fault.code)
            assert re.search(fault.says, problem["detail"])
            assert str(place.home) not in str(problem)
    assert serving.ask("GET", "/readyz")[0] == 200
    assert serving.ask("POST", asking.ASK, {}) == first
    assert "traceback" not in (serving.home / "log").read_text().lower()


def hindering() -> Iterator[Any]:
    """Return faults that keep a worker from its home: one of each kind, at night all."""
    codes = set()
    for fault in LIVE:
        if fault.name.endswith(("is away", "of another version", "group")):
            marks = [pytest.mark.nightly] if fault.code in codes else []
            codes.add(fault.code)
            yield pytest.param(fault, marks=marks, id=fault.name)


@pytest.mark.parametrize("fault", list(hindering()))
def test_a_worker_that_cannot_start_says_so_in_one_line(
    model: Furnished, tmp_path: Path, fault: Fault
) -> None:
    made = set_up(model, tmp_path, Homes(None))
    made.world.server.database.close()
    # Of two that fail at once, gunicorn itself traces the second.
    environment = {**made.home.environment, "PENSTOCK_PORT": "0", "PENSTOCK_WORKERS": "1"}
    with fault.harm(made.place):
        done = subprocess.run(
            [sys.executable, "-m", "gunicorn", "-c", str(CONFIGURATION)],
            env={**os.environ, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode not in (0, -signal.SIGKILL)
    lines = [line for line in done.stderr.splitlines() if "A worker cannot start" in line]
    assert lines
    assert all(re.search(fault.says, line) for line in lines)
    assert FOREIGN.findall(done.stderr) == []
    made.require_unharmed()
