"""Test the span of a worker's job: the name of its kind, the class of its error."""

import pytest
from opentelemetry.trace import SpanKind, StatusCode
from tests.api.tracing.tracing import in_memory, written
from tests.api.world import World

from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.jobs.runner import JobFunction, Run
from penstock.tracing.traced_jobs import traced_kinds
from penstock.tracing.traced_steps import LOOK_UP, traced

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
