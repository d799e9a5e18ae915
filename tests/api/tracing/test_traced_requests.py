"""Test the span of a request: its name, its status, its parent, and what it does not change."""

from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode
from tests.api.tracing.tracing import Traced, traced_world
from tests.api.world import World

from penstock.application import create_app_for
from penstock.http.edge import Edge
from penstock.persistence.database import Database
from penstock.tracing.traced_requests import OTHER, UNTRACED, TracedRequests

pytestmark = pytest.mark.only("sqlite")

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def traced(world: World) -> Traced:
    return traced_world(world)


def last(traced: Traced) -> ReadableSpan:
    """Return the span of the last request."""
    return next(span for span in reversed(traced.spans) if span.kind is SpanKind.SERVER)


@pytest.mark.parametrize(
    ("verb", "path", "name", "status"),
    [
        ("GET", "/api/v1/me", "GET /api/v1/me", 200),
        ("GET", "/api/v1/queries/visits", "GET /api/v1/queries/<query>", 200),
        ("GET", "/api/v1/queries/nothing", "GET /api/v1/queries/<query>", 404),
        ("GET", "/nowhere", OTHER, 404),
        ("INVENTED", "/api/v1/me", OTHER, 405),
    ],
)
def test_a_span_has_the_verb_and_the_template(
    traced: Traced, verb: str, path: str, name: str, status: int
) -> None:
    traced.world.call(verb, path, by="ann")
    span = last(traced)
    assert span.name == name
    assert (span.attributes or {})["http.response.status_code"] == status
    assert span.status.status_code is StatusCode.UNSET
    assert span.parent is None


def test_what_machines_poll_has_no_span(open_copy: Callable[..., World]) -> None:
    traced = traced_world(open_copy(public_url="https://example.org/below"))
    for path in UNTRACED:
        for place in (path, f"/below{path}"):
            assert traced.world.call("GET", place).status_code in {200, 404}
    assert traced.spans == ()
    # What only resembles them is traced as everything else.
    for place in ("/healthz/", "/other/healthz", "/healthz/more", "/Metrics"):
        traced.world.call("GET", place)
        assert last(traced).name == OTHER
        traced.exporter.clear()


@pytest.mark.parametrize("flags", ["00", "01", "ff"])
def test_a_valid_parent_is_taken_and_always_recorded(traced: Traced, flags: str) -> None:
    header = {"traceparent": f"00-{TRACE}-{PARENT}-{flags}"}
    traced.world.call("GET", "/openapi.json", headers=header)
    parent = last(traced).parent
    assert parent is not None
    assert (f"{parent.trace_id:032x}", f"{parent.span_id:016x}") == (TRACE, PARENT)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "canary",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"01-{TRACE}-{PARENT}-01",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01-more",
        f"00-{TRACE}-{PARENT}-1",
        f"00-{TRACE}-{PARENT}-01,00-{TRACE}-{PARENT}-01",
        f" 00-{TRACE}-{PARENT}-01x",
        f"00-{TRACE[:-1]}g-{PARENT}-01",
    ],
)
def test_an_invalid_parent_is_ignored(traced: Traced, header: str) -> None:
    assert (
        traced.world.call("GET", "/openapi.json", headers={"traceparent": header}).status_code
        == 200
    )
    assert last(traced).parent is None


def test_answers_are_the_same_with_and_without(world: World, traced: Traced) -> None:
    for path in ("/api/v1/me", "/api/v1/queries/visits", "/nowhere"):
        plain, watched = (made.call("GET", path, by="ann") for made in (world, traced.world))
        assert (plain.status, plain.data) == (watched.status, watched.data) or path == "/nowhere"
        assert {name for name, _ in plain.headers} == {name for name, _ in watched.headers}


def test_nothing_is_wrapped_where_nothing_is_traced(
    open_copy: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = open_copy()
    assert isinstance(create_app_for(world.server).wsgi_app, Edge)
    assert type(world.server.database) is Database
    assert "read" not in vars(world.server.database)
    watched = traced_world(world).world.client.application.wsgi_app
    assert isinstance(watched, TracedRequests)
    assert type(world.server.database) is Database
