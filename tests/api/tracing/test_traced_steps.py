"""Test the spans of a release: which steps there are, in which order, below its request."""

from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind
from tests.api.bad_input.tables.streams import STREAM
from tests.api.tracing.tracing import Traced, traced_world
from tests.api.world import QUERY, World
from tests.unit.statements import statements

from penstock.tracing.traced_steps import COMMIT, DRAW, LOOK_UP, WAIT, WITNESS, WORK, traced

ASK = "/api/v1/queries/visits/releases"


def steps(watched: Traced) -> list[str]:
    """Return the steps of all requests so far, in the order in which they began."""
    inner = [span for span in watched.spans if span.kind is SpanKind.INTERNAL]
    return [span.name for span in sorted(inner, key=lambda span: span.start_time or 0)]


def within(span: ReadableSpan, spans: tuple[ReadableSpan, ...]) -> bool:
    numbers = {one.context.span_id for one in spans if one.context}
    return span.parent is not None and span.parent.span_id in numbers


def one_of(spans: tuple[ReadableSpan, ...], name: str) -> ReadableSpan:
    """Return the only span of a name."""
    (span,) = (each for each in spans if each.name == name)
    return span


def test_a_first_release_looks_up_waits_draws_commits_and_is_witnessed(world: World) -> None:
    watched = traced_world(world)
    watched.world.answer("POST", ASK, {"epsilon": 0.2}, by="ian")
    found = steps(watched)
    order = [found.index(name) for name in (LOOK_UP, WAIT, WORK, DRAW, COMMIT, WITNESS)]
    assert order == sorted(order)
    draw, work = (one_of(watched.spans, name) for name in (DRAW, WORK))
    assert draw.parent == work.context
    assert dict(draw.attributes or {}) == {}
    assert list(draw.events) == []
    assert all(
        within(span, watched.spans) for span in watched.spans if span.kind is SpanKind.INTERNAL
    )
    watched.exporter.clear()
    watched.world.answer("POST", ASK, {"epsilon": 0.2}, by="ian")
    assert set(steps(watched)) <= {LOOK_UP}


def test_every_kind_of_draw_has_its_span(world: World) -> None:
    """A query's first levels and a further one; a stream's elements and a level that it gets."""
    query = {**QUERY, "name": "again", "levels": {"public": {"epsilon": 0.01}}}
    more = {"levels": {"internal": {"epsilon": 0.02}}}
    watched = traced_world(world)
    for verb, path, body in (
        ("POST", "/api/v1/queries", query),
        ("POST", "/api/v1/streams", STREAM),
        ("POST", "/api/v1/streams/hits/elements", {"from": 1, "values": [3]}),
        ("PATCH", "/api/v1/streams/hits", more),
        ("PATCH", "/api/v1/queries/again", {**more, "values": QUERY["values"]}),
    ):
        watched.exporter.clear()
        answer = watched.world.call(verb, path, body, by="root")
        assert answer.status_code < 300, (path, answer.text)
        assert (DRAW in steps(watched)) is (path != "/api/v1/streams"), path


def test_a_transaction_that_fails_has_no_commit_and_is_undone(world: World) -> None:
    watched = traced_world(world)
    server = traced(world.server, watched.tracing)
    with (
        pytest.raises(KeyError),
        watched.tracing.request(None),
        server.database.write_own_rows(),
    ):
        raise KeyError("canary")
    assert steps(watched) == [WAIT, WORK]
    assert {(span.attributes or {}).get("error.type") for span in watched.spans} == {
        None,
        "KeyError",
    }


def test_what_belongs_to_no_request_has_no_spans(world: World) -> None:
    watched = traced_world(world)
    server = traced(world.server, watched.tracing)
    with server.database.read(), server.database.write_own_rows(), server.drawing():
        server.randomness()
    assert watched.spans == ()
    server.database.keeper = None
    assert world.server.database.keeper is None


def test_traces_cost_no_statement(open_copy: Callable[..., World]) -> None:
    seen: list[list[str]] = []
    for watched in (open_copy(), traced_world(open_copy()).world):
        for by in ("ian", "ian"):
            with statements() as sent:
                watched.answer("POST", ASK, {}, by=by)
            seen.append(sent)
    first, repeat, traced_first, traced_repeat = seen
    assert traced_first == first
    assert traced_repeat == repeat
    assert len(first) > len(repeat)
