"""Test where traces go: to the collector of the settings, or nowhere, whatever it does."""

import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.api.tracing.collector import Collector, listening

from penstock import __version__
from penstock.errors import Unavailable
from penstock.http.access_log import Lines
from penstock.settings import Settings
from penstock.tracing import sending, spans
from penstock.tracing.sending import OTHER, SENTENCES, tracing_of

SECRET = "Bearer canary"
Sent = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with listening() as server:
        yield server


@pytest.fixture(autouse=True)
def secret(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set a header with a secret, as a collector may demand one; leave no thread that sends."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization={SECRET.replace(' ', '%20')}")
    before = set(threading.enumerate())
    yield
    collector.open.set()
    for thread in set(threading.enumerate()) - before:
        thread.join()


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Return what sends one span to an address and reads the log of it."""
    # The library leaves out a warning that it had in the same 20 seconds, of another test too.
    monkeypatch.setattr("opentelemetry.sdk._shared_internal._logger.filters", [])

    def send(url: str) -> list[dict[str, Any]]:
        tracing = tracing_of(Settings(traces_url=url))
        assert tracing is not None
        with tracing.job("export_log"):
            pass
        tracing.close()
        return [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    return send


def test_spans_are_sent_as_the_programs_own(collector: Collector, lines: Sent) -> None:
    assert lines(collector.url) == []
    (headers,), (request,) = collector.headers, collector.requests
    assert headers["path"] == "/v1/traces"
    assert headers["authorization"] == SECRET
    (sent,) = request.resource_spans
    assert {part.key: part.value.string_value for part in sent.resource.attributes} == {
        "service.name": "penstock",
        "service.version": __version__,
    }
    assert collector.names == ["job export_log"]


def test_the_environment_names_the_service_and_the_share(
    collector: Collector, lines: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=trial")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "penstock-trial")
    assert lines(collector.url) == []
    (sent,) = collector.requests[0].resource_spans
    assert {part.key: part.value.string_value for part in sent.resource.attributes} == {
        "service.name": "penstock-trial",
        "service.version": __version__,
        "deployment.environment.name": "trial",
    }
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0")
    assert lines(collector.url) == []
    assert len(collector.bodies) == 1


def test_nothing_waits_for_a_collector_that_does_not_answer(
    collector: Collector, lines: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a request, of which there are more than the queue takes, nor the end of the process.

    The collector answers after the last line of this test: what waited for it would never end.
    """
    collector.open.clear()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "8")
    monkeypatch.setattr(spans, "CLOSING_SECONDS", 0.01)
    tracing = tracing_of(Settings(traces_url=collector.url))
    assert tracing is not None
    for _ in range(8):
        with tracing.request(None):
            pass
    assert collector.begun.wait(60)
    for _ in range(64):
        with tracing.request(None):
            pass
    tracing.close()
    said = lines(collector.url)
    assert SENTENCES["Queue full"] in {line["message"] for line in said}
    assert len(collector.bodies) <= 2


def test_a_collector_that_is_away_is_a_line_without_its_secret(
    lines: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{probe.getsockname()[1]}/canary/v1/traces"
    said = lines(away)
    assert said[-1]["message"] == SENTENCES["Failed to export"]
    assert {line.get("error") for line in said} <= {None, "requests.exceptions.ConnectionError"}
    assert "canary" not in json.dumps(said)


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_refusal_is_a_line_with_the_status_and_nothing_of_the_answer(
    status: int, lines: Sent
) -> None:
    with listening(status) as server:
        (said,) = lines(server.url)
    assert (said["message"], said["number"]) == (SENTENCES["Failed to export"], status)
    assert "canary" not in json.dumps(said)


@pytest.mark.parametrize(
    ("variable", "value", "begins"),
    [
        ("OTEL_TRACES_SAMPLER", "canary", "Couldn't recognize sampler"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "canary", "Header format invalid"),
        ("OTEL_RESOURCE_ATTRIBUTES", "canary", "Invalid key value resource"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "canary", "Invalid timeout value"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "canary", "Unsupported compression"),
        ("OTEL_BSP_SCHEDULE_DELAY", "canary", None),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=canary%0Acanary", "Failed to export"),
    ],
)
def test_a_mistake_in_a_variable_is_a_sentence_that_does_not_quote_it(
    collector: Collector,
    lines: Sent,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    begins: str | None,
) -> None:
    monkeypatch.setenv(variable, value)
    said = lines(collector.url)
    assert [line["message"] for line in said] == [SENTENCES[begins] if begins else OTHER]
    assert "canary" not in json.dumps(said)


def test_a_line_that_quotes_the_library_is_seen(
    collector: Collector, lines: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("opentelemetry"), "handlers", [])
    monkeypatch.setattr(sending, "_WithoutTexts", Lines)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "canary")
    assert "canary" in json.dumps(lines(collector.url))


def test_variables_that_cannot_be_used_stop_the_start(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "0")
    with pytest.raises(Unavailable, match="correct or unset"):
        tracing_of(Settings(traces_url=collector.url))


def test_without_the_setting_there_are_no_traces() -> None:
    assert tracing_of(Settings()) is None


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    assert tracing_of(Settings()) is None
    with pytest.raises(Unavailable, match=r"pip install 'penstock\[otel\]'"):
        tracing_of(Settings(traces_url="http://127.0.0.1:4318/v1/traces"))
