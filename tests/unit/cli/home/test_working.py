"""Test ``penstock work``: a process of its own that does what pages and callers left to it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.api.tracing.collector import listening
from tests.databases.homes import Home, Homes

from penstock.cli.program import FAILURE, run
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.jobs import jobs, queue
from penstock.services.jobs.jobs import JobRequest
from penstock.services.operations.home import open_server
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec
from penstock.tracing.traced_steps import LOOK_UP

COMMAND = [sys.executable, "-m", "penstock", "work", "--once"]


@pytest.mark.only("sqlite")
def test_on_sqlite_it_says_where_jobs_run(
    homes: Homes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = homes.empty(tmp_path / "home")
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    assert run(["work"]) == FAILURE
    assert "where jobs run inside `penstock serve`" in capsys.readouterr().err


def exported(server: Server, kind: str, key: str = "first") -> str:
    otto = acting_as(server, "otto")
    request = JobRequest(kind, f"{key}-{kind}", b"x" * 32)
    begun = jobs.start_job(server, otto, request, "there", handed_over=queue.hand_over)
    return begun.piece.id


def worked(made: Home, **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, **made.environment, **settings}
    return subprocess.run(COMMAND, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.only("postgresql")
def test_it_does_what_waits_and_ends(homes: Homes, tmp_path: Path) -> None:
    made = homes.empty(tmp_path / "home")
    server = open_server(made.settings())
    users.create(server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
    export, unknown = exported(server, "export_log"), exported(server, "of another version")
    done = worked(made)
    assert (done.returncode, done.stderr) == (0, "")
    otto = acting_as(server, "otto")
    view = jobs.show(server, otto, export)
    assert (view.state, view.attempt) == ("done", 1)
    assert (made.folder / "exports" / (view.result or "")).is_file()
    problem = jobs.show(server, otto, unknown).problem
    assert problem is not None
    assert "no such kind of job" in problem.detail
    state = queue.state(server)
    assert state is not None
    assert (state.workers, state.waiting, state.taken) == (0, 0, 0)
    server.database.close()


@pytest.mark.only("postgresql")
def test_its_jobs_and_their_steps_are_traced(homes: Homes, tmp_path: Path) -> None:
    """A collector that answers has all of them when it ends; one that refuses changes nothing."""
    made = homes.empty(tmp_path / "home")
    server = open_server(made.settings())
    users.create(server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
    export = exported(server, "export_log")
    with listening() as collector:
        done = worked(made, PENSTOCK_TRACES_URL=collector.url)
    assert (done.returncode, done.stderr) == (0, "")
    (job,) = (span for span in collector.spans if span.name == "job export_log")
    steps = [span for span in collector.spans if span.parent_span_id == job.span_id]
    assert {span.name for span in steps} == {LOOK_UP}
    assert {span.trace_id for span in collector.spans} == {job.trace_id}
    assert not [word for word in ("otto", export, "SELECT") if word in collector.text]
    again = exported(server, "export_log", "another")
    with listening(status=500) as collector:
        done = worked(made, PENSTOCK_TRACES_URL=collector.url)
    assert done.returncode == 0
    assert jobs.show(server, acting_as(server, "otto"), again).state == "done"
    assert "canary" not in done.stderr
    server.database.close()
