"""Test that the workers of a server send their spans, by threads of their own after the fork."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.api.served.serving import ASK, Serving, serve_copy
from tests.api.tracing.collector import listening
from tests.databases.homes import Home, Homes

from penstock.tracing.traced_steps import COMMIT, DRAW, LOOK_UP, WAIT, WITNESS, WORK

RELEASE = "POST /api/v1/queries/<query>/releases"


def lines(serving: Serving) -> list[dict[str, Any]]:
    """Return the lines of a server's log."""
    return [json.loads(line) for line in (serving.home / "log").read_text().splitlines()]


@pytest.mark.only("sqlite")
def test_workers_send_what_they_did_before_they_end(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> None:
    """With an hour between two sendings, so that all of it is sent at the end."""
    settings = {"OTEL_BSP_SCHEDULE_DELAY": "3600000", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=canary"}
    with listening() as collector:
        traced = {"PENSTOCK_TRACES_URL": collector.url, **settings}
        serving = serve_copy(homes, furnished[0], tmp_path / "home", workers=2, **traced)
        status, released = serving.ask("POST", ASK, {"epsilon": 0.2})
        assert status == 200
        asked = {serving.ask("GET", "/api/v1/me")[0] for _ in range(8)}
        assert asked == {200}
        assert collector.bodies == []
        assert serving.stop(signal.SIGTERM) == 0
    names = collector.names
    assert names.count("GET /api/v1/me") == 8
    (release,) = (span for span in collector.spans if span.name == RELEASE)
    steps = [span.name for span in collector.spans if span.trace_id == release.trace_id]
    assert {*steps} == {RELEASE, LOOK_UP, WAIT, WORK, DRAW, COMMIT, WITNESS}
    keys = {field.key for span in collector.spans for field in span.attributes}
    assert keys == {"http.request.method", "http.response.status_code", "http.route"}
    values = [str(value) for value in released["values"] if len(str(value)) > 4]
    secret = [serving.token, "canary", "visits", "ian", released["id"], *values]
    assert not [word for word in secret if word in collector.text]
    assert "canary" not in json.dumps(lines(serving))


@pytest.mark.only("sqlite")
def test_a_server_whose_collector_never_answers_serves_and_ends(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> None:
    """The collector answers after the server has ended, so that nothing can have waited for it."""
    settings = {"OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_EXPORTER_OTLP_TIMEOUT": "3600"}
    with listening() as collector:
        collector.open.clear()
        traced = {"PENSTOCK_TRACES_URL": collector.url, **settings}
        serving = serve_copy(homes, furnished[0], tmp_path / "home", workers=1, **traced)
        # Whether the server is ready is not traced.
        assert serving.ask("GET", "/api/v1/me")[0] == 200
        assert collector.begun.wait(60)
        assert serving.ask("POST", ASK, {"epsilon": 0.2})[0] == 200
        assert serving.stop(signal.SIGTERM) == 0
    assert {line["level"] for line in lines(serving)} == {"INFO"}
