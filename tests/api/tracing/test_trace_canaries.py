"""Test that traces of a server, used and abused, say nothing of people, names, data or values.

Distinctive names, values, tokens, paths and headers are sent; then everything that the spans say
is searched for them.  Names of spans and keys of attributes come from a closed list.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.trace import Span
from tests.api.tracing.tracing import Traced, traced_world, written
from tests.api.world import DATASET, QUERY, World

from penstock import api, web
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.tracing import spans, traced_requests, traced_steps

VALUES = [91827364, 64554633]
ROUTES = {f"{verb} {route}" for verb, route in (*api.ROUTES, *web.ROUTES)}
STEPS = {
    traced_steps.LOOK_UP,
    traced_steps.WAIT,
    traced_steps.WORK,
    traced_steps.DRAW,
    traced_steps.COMMIT,
    traced_steps.WITNESS,
}
KEYS = {"http.request.method", "http.route", "http.response.status_code", "error.type"}
HEADERS = {
    "traceparent": "00-canary-canary-01",
    "tracestate": "canary=canary",
    "baggage": "canary=canary",
    "User-Agent": "canary",
    "X-Request-Id": "canary",
}


@dataclass
class Journey:
    """Hold a traced world and everything distinctive that was sent or answered."""

    traced: Traced
    secrets: set[str] = field(default_factory=lambda: {"canary", *map(str, VALUES)})

    def send(self, verb: str, path: str, body: object = None, by: str | None = "root") -> Any:
        """Send one request with distinctive headers, and return what was answered."""
        return self.traced.world.call(verb, path, body, by=by, headers=HEADERS)

    def disclosed(self) -> set[str]:
        """Return the secrets that spans say."""
        text = "\n".join(map(written, self.traced.spans))
        return {secret for secret in self.secrets if secret in text}


@pytest.fixture
def journey(open_copy: Callable[..., World]) -> Journey:
    made = Journey(traced_world(open_copy(room_reserve=0)))
    made.secrets |= set(made.traced.world.tokens.values())
    return made


def use(journey: Journey) -> None:
    """Register, release, repeat and read, under distinctive names."""
    world = journey.traced.world
    assert journey.send("POST", "/api/v1/tiers", {"name": "canary-t", "rank": 20}).status_code < 300
    spec = UserSpec(name="canary-user", roles=["analyst"], clearance="canary-t")
    users.create(world.server, OPERATOR, spec)
    world.tokens["canary"] = tokens.issue(world.server, OPERATOR, spec.name, TokenSpec()).token
    journey.secrets.add(world.tokens["canary"])
    dataset = {**DATASET, "name": "canary-data", "budgets": {"canary-t": {"epsilon": 1}}}
    query = {**QUERY, "name": "canary-query", "dataset": "canary-data", "values": VALUES}
    query |= {"keys": ["canary-1", "canary-2"], "levels": {"canary-t": {"epsilon": 0.5}}}
    assert journey.send("POST", "/api/v1/datasets", dataset).status_code < 300
    assert journey.send("POST", "/api/v1/queries", query).status_code < 300
    bodies: tuple[dict[str, float], ...] = ({}, {"epsilon": 0.2}, {})
    for body in bodies:
        ask = "/api/v1/queries/canary-query/releases"
        answer = journey.send("POST", ask, body, by="canary")
        assert answer.status_code < 300, answer.text
        assert answer.json is not None
        journey.secrets |= {str(value) for value in answer.json["values"]} | {answer.json["id"]}
        path = f"/api/v1/releases/{answer.json['id']}/values?format=csv"
        assert journey.send("GET", path, by="canary").status_code == 200
    assert journey.send("GET", "/queries/canary-query", by=None).status_code < 500


def abuse(journey: Journey) -> None:
    """Send what is refused, with canaries wherever something can be sent."""
    for verb, path, body, by in (
        ("GET", "/canary-path?canary=argument", None, "ann"),
        ("CANARY", "/api/v1/me", None, "ann"),
        ("CANARY", "/canary", None, None),
        ("GET", "/api/v1/users/canary-missing", None, "root"),
        ("POST", "/api/v1/queries/canary-missing/releases", {}, "ann"),
        ("POST", "/api/v1/tiers", {"name": "canary", "rank": "canary"}, "root"),
        ("PATCH", "/api/v1/tiers/public", {"canary": VALUES}, "root"),
        ("GET", "/api/v1/me?canary=argument", None, None),
    ):
        assert 400 <= journey.send(verb, path, body, by=by).status_code < 500 or "me?" in path
    # A failure whose text and arguments are distinctive, within a step of a request.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.services.releases.releases.read_under_lock", _broken)
        path = "/api/v1/queries/canary-query/releases"
        answer = journey.send("POST", path, {"epsilon": 0.3}, by="canary")
        assert answer.status_code == 500


def _broken(*_: object, **__: object) -> None:
    raise RuntimeError("canary in a text")


def test_spans_say_nothing_of_people_names_data_or_values(journey: Journey) -> None:
    use(journey)
    abuse(journey)
    assert journey.disclosed() == set()
    names = {span.name for span in journey.traced.spans}
    assert names <= ROUTES | STEPS | {traced_requests.OTHER}
    assert names >= STEPS | {
        "POST /api/v1/queries/<query>/releases",
        "POST /api/v1/queries",
        traced_requests.OTHER,
    }
    assert {key for span in journey.traced.spans for key in span.attributes or {}} <= KEYS
    assert [span.name for span in journey.traced.spans if span.events or span.links] == []
    drawn = [span for span in journey.traced.spans if span.name == traced_steps.DRAW]
    assert len(drawn) > 1
    assert {(*(span.attributes or {}),) for span in drawn} == {()}
    types = {(span.attributes or {}).get("error.type") for span in journey.traced.spans}
    assert {"RuntimeError", "500"} <= types
    (resource,) = {span.resource for span in journey.traced.spans}
    assert set(resource.attributes) == {"service.name", "service.version"}
    assert len(journey.secrets) > 15


def test_a_span_with_the_raw_path_is_seen(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raw(environ: dict[str, Any], _: int) -> tuple[str, dict[str, str | int]]:
        return f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}", {}

    monkeypatch.setattr(traced_requests, "_described", raw)
    use(journey)
    assert "canary" in journey.disclosed()


def test_a_span_with_the_text_of_an_error_is_seen(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def talkative(span: Span, error: str) -> None:
        span.add_event("exception", {"exception.message": f"{error}: canary in a text"})

    use(journey)
    assert journey.disclosed() == set()
    monkeypatch.setattr(spans, "mark_failed", talkative)
    abuse(journey)
    assert journey.disclosed() == {"canary"}
