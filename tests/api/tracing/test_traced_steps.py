"""Test the spans of a release: which steps there are, in which order, below its request."""

from collections.abc import Callable

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind
from tests.api.tracing.tracing import Traced, traced_world
from tests.api.world import World
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


def test_a_first_release_looks_up_waits_draws_commits_and_is_witnessed(world: World) -> None:
    watched = traced_world(world)
    watched.world.answer("POST", ASK, {"epsilon": 0.2}, by="ian")
    found = steps(watched)
    order = [found.index(name) for name in (LOOK_UP, WAIT, WORK, COMMIT, WITNESS)]
    assert order == sorted(order)
    (work,) = (span for span in watched.spans if span.name == WORK)
    assert [event.name for event in work.events] == [DRAW]
    assert all(
        within(span, watched.spans) for span in watched.spans if span.kind is SpanKind.INTERNAL
    )
    watched.exporter.clear()
    watched.world.answer("POST", ASK, {"epsilon": 0.2}, by="ian")
    assert set(steps(watched)) <= {LOOK_UP}


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
    with server.database.read(), server.database.write_own_rows():
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
