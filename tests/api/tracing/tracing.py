"""Trace an application into memory, and write all that its spans say."""

import json
from dataclasses import dataclass, replace

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.api.world import World
from tests.databases.homes import PATIENCE

from penstock.application import create_app_for
from penstock.tracing.spans import Tracing


@dataclass(frozen=True)
class Traced:
    """Hold a world whose requests are traced, and the spans so far."""

    world: World
    tracing: Tracing
    exporter: InMemorySpanExporter

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        """Return the spans that ended."""
        return self.exporter.get_finished_spans()


def in_memory() -> tuple[Tracing, InMemorySpanExporter]:
    """Return what makes spans, and the memory where they are."""
    exporter = InMemorySpanExporter()
    return Tracing(SimpleSpanProcessor(exporter)), exporter


def traced_world(world: World) -> Traced:
    """Return the same world behind an application that is traced, whose pages wait for jobs."""
    tracing, exporter = in_memory()
    watch = world.stopwatch
    app = create_app_for(
        world.server, clock=watch, sleep=watch.sleep, patience=PATIENCE, tracing=tracing
    )
    return Traced(replace(world, client=app.test_client()), tracing, exporter)


def written(span: ReadableSpan) -> str:
    """Return all that a span says, but for its random numbers and its times."""
    context, scope = span.get_span_context(), span.instrumentation_scope
    return json.dumps(
        {
            "name": span.name,
            "attributes": dict(span.attributes or {}),
            "events": [[event.name, dict(event.attributes or {})] for event in span.events],
            "links": [dict(link.attributes or {}) for link in span.links],
            "status": span.status.description,
            "state": context.trace_state.to_header() if context else None,
            "resource": dict(span.resource.attributes),
            "scope": scope.to_json() if scope else None,
        },
        ensure_ascii=False,
    )
