"""Test the span of a job, a worker's or the server's: its kind, and the class of its error."""

from secrets import token_hex

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from tests.api.tracing.tracing import in_memory, traced_world, written
from tests.api.world import World
from tests.databases.homes import PATIENCE
from tests.web.world import Browser

from penstock.services.access.principals import OPERATOR, Principal, authenticate
from penstock.services.context import Server
from penstock.services.jobs.jobs import JobRequest
from penstock.services.jobs.runner import JobFunction, Run, Runner
from penstock.tracing.traced_jobs import traced_kinds
from penstock.tracing.traced_steps import COMMIT, LOOK_UP, WORK, traced

pytestmark = pytest.mark.only("sqlite")


def test_a_job_is_named_by_its_kind_and_an_error_by_its_class(world: World) -> None:
    tracing, exporter = in_memory()

    def prepare(server: Server, _: Principal, fields: str) -> JobFunction:
        def act(_: Run) -> str:
            with server.database.read():
                if fields == "canary-bad":
                    raise ValueError(fields)
            return f"{fields} made"

        return act

    kinds = traced_kinds({"export_log": prepare}, tracing)
    server = traced(world.server, tracing)

    def act(fields: str) -> str:
        return kinds["export_log"](server, OPERATOR, fields)(Run("canary-piece", 1))

    assert act("canary") == "canary made"
    with pytest.raises(ValueError, match="canary-bad"):
        act("canary-bad")
    read, job, failed_read, failed = exporter.get_finished_spans()
    assert (job.name, job.kind, job.parent) == ("job export_log", SpanKind.CONSUMER, None)
    assert (read.name, failed_read.name) == (LOOK_UP, LOOK_UP)
    assert job.status.status_code is StatusCode.UNSET
    assert failed.status.status_code is StatusCode.ERROR
    assert dict(failed.attributes or {}) == {"error.type": "ValueError"}
    assert not any("canary" in written(span) for span in exporter.get_finished_spans())


def test_a_job_inside_the_server_has_a_span_of_its_kind_too(world: World) -> None:
    tracing, exporter = in_memory()
    server = traced(world.server, tracing)
    runner = Runner(server, patience=PATIENCE, pulse=None, watching=tracing.job)

    def act(run: Run) -> str:
        with server.database.read():
            if run.attempt == 1:
                raise ValueError("canary-bad")
        return "canary made"

    job = JobRequest("export_log", token_hex(16), b"x" * 32, "canary fields", "canary subject")
    assert (
        runner.start(authenticate(world.server, world.tokens["root"]), job, act).state == "failed"
    )
    read, failed = exporter.get_finished_spans()
    assert (failed.name, failed.kind, failed.parent) == ("job export_log", SpanKind.CONSUMER, None)
    assert dict(failed.attributes or {}) == {"error.type": "ValueError"}
    assert (read.name, read.parent) == (LOOK_UP, failed.get_span_context())
    assert not any("canary" in written(span) for span in (read, failed))


def test_a_job_of_a_page_is_traced_apart_from_the_request_that_asked_for_it(world: World) -> None:
    traced_pages = traced_world(world)
    browser = Browser(traced_pages.world, traced_pages.world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    form = {"source": "vector", "neighboring": "add_remove", "delta": "1e-6", "epsilon public": "1"}
    made = browser.submit("/new/dataset", name="canary", **form, once="u" * 32)
    assert made.status_code == 303, made.text
    spans = {span.name: span for span in traced_pages.spans}
    job, request = spans["job register_dataset"], spans["POST /new/dataset"]
    assert (job.kind, job.parent) == (SpanKind.CONSUMER, None)
    assert job.context.trace_id != request.context.trace_id
    steps = {span.name for span in traced_pages.spans if span.parent == job.get_span_context()}
    assert steps >= {WORK, COMMIT}
    assert dict(job.attributes or {}) == {}
    assert not any("canary" in written(span) for span in traced_pages.spans)
