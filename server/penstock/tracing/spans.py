"""Make spans of names and attributes that the code itself has.

Callers add none: of their headers, a trace's numbers and its flag are used, and an error is
recorded by its class.  The operator's variables ``OTEL_*`` are read by the library.
"""

import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from penstock import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.sdk.trace.sampling import Sampler
    from opentelemetry.trace import Span, SpanKind

CLOSING_SECONDS: Final = 5.0
"""The seconds in which a process that ends waits for the collector to take the last spans."""

_TRACE_PARENT: Final = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})", flags=re.ASCII)

Attributes = Mapping[str, str | int]
"""What a span says beyond its name: words and numbers of the code, none of a caller."""


class Tracing:
    """Hold what makes spans, and ``processor``, which receives those that ended."""

    def __init__(self, processor: "SpanProcessor") -> None:
        from opentelemetry.sdk.trace import TracerProvider

        self._provider = TracerProvider(_sampler(), _resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("penstock", __version__)

    @contextmanager
    def request(self, trace_parent: str | None) -> Iterator["Span"]:
        """Open the span of a request, below a caller's own if the header is valid."""
        from opentelemetry.trace import SpanKind

        with self._opened("request", _context_of(trace_parent), SpanKind.SERVER) as span:
            yield span

    @contextmanager
    def job(self, kind: str) -> Iterator[None]:
        """Open the span of a job, which has no parent."""
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind

        with self._opened(f"job {kind}", Context(), SpanKind.CONSUMER):
            yield

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Open the span of a step of a request or a job; outside them there is none."""
        from opentelemetry.trace import SpanKind, get_current_span

        if not get_current_span().is_recording():
            yield
            return
        with self._opened(name, None, SpanKind.INTERNAL):
            yield

    @contextmanager
    def _opened(self, name: str, context: "Context | None", kind: "SpanKind") -> Iterator["Span"]:
        opened = self._tracer.start_as_current_span(
            name,
            context=context,
            kind=kind,
            # The library would record the error's text and its traceback.
            record_exception=False,
            set_status_on_exception=False,
        )
        with opened as span, _Marking(span):
            yield span

    def close(self) -> None:
        """Send what is left, for ``CLOSING_SECONDS`` at most; nothing is sent afterwards."""
        ending = threading.Thread(target=self._provider.shutdown, name="last spans", daemon=True)
        ending.start()
        ending.join(CLOSING_SECONDS)


class _Marking:
    """Mark a span as failed if its block ends by an error, by the name of the error's class."""

    def __init__(self, span: "Span") -> None:
        self._span = span

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            mark_failed(self._span, kind.__qualname__)


def mark_failed(span: "Span", error: str) -> None:
    """Mark a span as failed by the name of an error's class, or by a status."""
    from opentelemetry.trace import StatusCode

    span.set_attribute("error.type", error)
    span.set_status(StatusCode.ERROR)


def finish_request(span: "Span", name: str, attributes: Attributes, status: int) -> None:
    """Give a request's span the name and attributes that are known once it is answered."""
    span.update_name(name)
    span.set_attributes(dict(attributes))
    if status >= 500:  # the server's own errors
        mark_failed(span, str(status))


def _context_of(trace_parent: str | None) -> "Context":
    """Return the context with the caller's span if the header is valid, else an empty one.

    Of what the caller sent, the two numbers of a ``traceparent`` of version 00 are used, and its
    flag, which only a sampler of ``OTEL_TRACES_SAMPLER`` that follows parents regards.
    """
    from opentelemetry.context import Context
    from opentelemetry.trace import (
        NonRecordingSpan,
        SpanContext,
        TraceFlags,
        set_span_in_context,
    )

    match = _TRACE_PARENT.fullmatch(trace_parent or "")
    if match is None:
        return Context()
    trace, span, flags = (int(number, 16) for number in match.groups())
    if not trace or not span:
        return Context()
    recorded = TraceFlags(flags & TraceFlags.SAMPLED)
    parent = SpanContext(trace, span, is_remote=True, trace_flags=recorded)
    return set_span_in_context(NonRecordingSpan(parent), Context())


def _sampler() -> "Sampler | None":
    """Return None where the environment names a sampler, which the library makes.

    Where it names none, everything is recorded: otherwise a caller's header could hide a request.
    """
    from opentelemetry.sdk.environment_variables import OTEL_TRACES_SAMPLER
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON

    return None if os.environ.get(OTEL_TRACES_SAMPLER) else ALWAYS_ON


def _resource() -> "Resource":
    """Return whose spans these are: the program's, with what the environment calls it."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource

    program = Resource({"service.name": "penstock"}).merge(OTELResourceDetector().detect())
    return program.merge(Resource({"service.version": __version__}))
