"""Test which spans are recorded, what they are of, and that nothing waits for their processor."""

import threading

import pytest
from opentelemetry.sdk.trace import SpanProcessor
from tests.api.tracing.tracing import in_memory

from penstock.tracing import spans
from penstock.tracing.spans import Tracing


@pytest.mark.parametrize(
    ("sampler", "recorded"),
    [(None, 2), ("parentbased_always_on", 1), ("always_on", 2), ("always_off", 0)],
)
def test_a_caller_hides_a_request_only_where_the_operator_follows_callers(
    monkeypatch: pytest.MonkeyPatch, sampler: str | None, recorded: int
) -> None:
    if sampler is not None:
        monkeypatch.setenv("OTEL_TRACES_SAMPLER", sampler)
    tracing, exporter = in_memory()
    for flags in ("00", "01"):
        parent = f"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-{flags}"
        with tracing.request(parent), tracing.step("look up"):
            pass
    names = [span.name for span in exporter.get_finished_spans()]
    assert names.count("request") == names.count("look up") == recorded


def test_a_disabled_library_records_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    tracing, exporter = in_memory()
    with tracing.request(None) as span, tracing.step("look up"):
        spans.finish_request(span, "GET /", {}, 500)
    assert exporter.get_finished_spans() == ()


def test_the_end_waits_for_a_while_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "CLOSING_SECONDS", 0.01)
    begun, ended = threading.Event(), threading.Event()

    class Stuck(SpanProcessor):
        def shutdown(self) -> None:
            begun.set()
            ended.wait()

    Tracing(Stuck()).close()
    assert begun.wait(60)
    ended.set()
