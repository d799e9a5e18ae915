"""Test that answers whose timing must not distinguish them are sent at multiples of the quantum."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.api.world import QUANTUM, QUERY, Stopwatch, World

from penstock.errors import Conflict, Forbidden, NotAuthenticated, NotFound, TooManyRequests
from penstock.http import pacing, problems
from penstock.http.pacing import VALUES_PER_QUANTUM, Pace
from penstock.services.people import users
from penstock.services.releases import history, releases

ASK = "/api/v1/queries/visits/releases"


@pytest.mark.parametrize(
    ("elapsed", "quanta", "answered"),
    [(0, 1, 1), (0.25, 1, 1), (0.9, 1, 1), (1, 1, 1), (1.25, 1, 2), (7.5, 1, 8), (1.5, 4, 4)],
)
def test_an_answer_waits_for_the_next_multiple(
    elapsed: float, quanta: int, answered: float
) -> None:
    """In quanta of 0.5 s, which are exact in binary."""
    watch = Stopwatch(now=0.0)
    rhythm = Pace(0.5, watch, watch.sleep)
    watch.now = 64.0 + elapsed * 0.5
    rhythm.wait(64.0, quanta)
    assert watch.now == 64.0 + answered * 0.5


def test_a_sleep_that_ends_early_is_gone_on_with() -> None:
    watch = Stopwatch()
    rhythm = Pace(1.0, watch, lambda seconds: watch.sleep(min(seconds, 0.25)))
    rhythm.wait(watch.now)
    assert sum(watch.slept) == 1.0


def test_a_quantum_of_zero_switches_it_off(open_copy: Callable[..., World]) -> None:
    world = open_copy(time_quantum=0.0)
    world.call("GET", "/api/v1/me")
    world.call("POST", ASK, {"epsilon": 0.01}, by="ann")
    assert world.stopwatch.slept == []


def seconds_of(
    world: World, verb: str, path: str, body: Any = None, by: str | None = None
) -> float:
    """Return how long an answer took by the stopwatch."""
    before = world.stopwatch.now
    world.call(verb, path, body, by=by)
    return world.stopwatch.now - before


RELEASE = "/api/v1/releases/none/values"
REFUSED = [
    (401, "GET", "/api/v1/me", None, None),
    (401, "GET", "/api/v1/me", None, "malformed"),
    (401, "GET", "/api/v1/me", None, "expired"),
    (401, "GET", "/api/v1/me", None, "revoked"),
    (401, "GET", "/api/v1/me", None, "gone"),
    (401, "POST", ASK, {}, None),
    (403, "GET", "/api/v1/users", None, "ann"),
    (403, "POST", ASK, {"tier": "internal"}, "ann"),
    (403, "POST", ASK, {"level": 1e-6}, "ann"),
    (403, "POST", ASK, {}, "root"),
    (404, "GET", "/api/v1/queries/secret", None, "ann"),
    (404, "GET", "/api/v1/queries/absent", None, "ann"),
    (404, "POST", "/api/v1/queries/secret/releases", {}, "ann"),
    (404, "POST", "/api/v1/queries/absent/releases", {}, "ann"),
    (404, "POST", ASK, {}, "noa"),
    (404, "GET", RELEASE, None, "ann"),
    (404, "GET", "/api/v1/datasets/absent", None, "ann"),
    (404, "GET", "/api/v1/nothing", None, "ann"),
    (404, "GET", "/metrics", None, "ann"),
    (409, "POST", "/api/v1/tiers", {"name": "public"}, "root"),
    (409, "POST", "/api/v1/queries", {**QUERY, "name": "big", "share": 1, "levels": None}, "root"),
    (409, "POST", "/api/v1/queries/retired/releases", {}, "ann"),
]


@pytest.mark.parametrize(("status", "verb", "path", "body", "by"), REFUSED)
def test_each_refusal_waits_once_for_one_quantum(
    world: World, status: int, verb: str, path: str, body: Any, by: str | None
) -> None:
    if "retired" in path:
        world.answer("POST", "/api/v1/queries", {**QUERY, "name": "retired"}, by="root")
        world.answer("POST", "/api/v1/queries/retired/retire", by="root")
    world.stopwatch.slept.clear()
    assert world.call(verb, path, body, by=by).status_code == status
    assert world.stopwatch.slept == [pytest.approx(QUANTUM)]


@pytest.mark.parametrize("by", ["ann", "malformed"])
def test_more_than_ones_allowance_waits_once_for_one_quantum(
    open_copy: Callable[..., World], by: str
) -> None:
    world = open_copy(request_burst=1, request_rate=0.1, failed_sign_ins=1)
    world.call("GET", "/api/v1/me", by=by)
    world.stopwatch.slept.clear()
    assert world.call("GET", "/api/v1/me", by=by).status_code == 429
    assert world.stopwatch.slept == [pytest.approx(QUANTUM)]


def test_each_first_grant_waits_once_and_no_repeat_does(world: World) -> None:
    """Drawn, found as somebody else's, found as the anchor; at a level, a tier, one's own."""
    asks = [
        ("ian", {"epsilon": 0.2}),  # drawn
        ("ian", {"tier": "public"}),  # stored: ann was handed it
        ("ian", {}),  # the anchor
        ("ann", {"epsilon": 0.05}),  # drawn, between others
        ("ian", {"epsilon": 0.05}),  # stored
    ]
    for by, body in asks:
        world.stopwatch.slept.clear()
        world.answer("POST", ASK, body, by=by)
        assert world.stopwatch.slept == [pytest.approx(QUANTUM)], (by, body)
    world.stopwatch.slept.clear()
    for by, body in asks:
        world.answer("POST", ASK, body, by=by)
    assert world.stopwatch.slept == []


def test_every_status_that_hides_a_reason_is_paced() -> None:
    hidden = {
        problems.STATUSES[kind]
        for kind in (NotAuthenticated, Forbidden, NotFound, Conflict, TooManyRequests)
    }
    assert hidden == pacing.REFUSALS


def test_a_first_grant_takes_a_quantum_whether_drawn_or_stored(world: World) -> None:
    assert seconds_of(world, "POST", ASK, {"tier": "internal"}, "ian") == pytest.approx(QUANTUM)
    # ann was handed the value of public before: to ian it is new, though it is stored.
    assert seconds_of(world, "POST", ASK, {"tier": "public"}, "ian") == pytest.approx(QUANTUM)


@pytest.mark.parametrize("name", ["free", "secret"])
def test_a_preview_under_a_free_or_a_hidden_name_takes_a_quantum(world: World, name: str) -> None:
    body = {**QUERY, "name": name}
    assert seconds_of(world, "POST", "/api/v1/queries/preview", body, "ann") == (
        pytest.approx(QUANTUM)
    )


def test_ones_own_repeats_and_readings_are_free(world: World) -> None:
    held = world.answer("GET", "/api/v1/releases", by="ann")["items"][0]["id"]
    for verb, path, body in (
        ("POST", ASK, {}),
        ("GET", "/api/v1/queries/visits", None),
        ("GET", f"/api/v1/releases/{held}/values", None),
        ("GET", "/healthz", None),
    ):
        assert seconds_of(world, verb, path, body, "ann") == 0


@pytest.mark.parametrize("spent", [0.001, 0.024])
def test_how_long_a_refusal_took_to_find_does_not_show(
    world: World, monkeypatch: pytest.MonkeyPatch, spent: float
) -> None:
    found = history.values

    def slowly(*arguments: Any, **named: Any) -> Any:
        world.stopwatch.now += spent
        return found(*arguments, **named)

    monkeypatch.setattr(history, "values", slowly)
    path = "/api/v1/releases/none/values"
    assert seconds_of(world, "GET", path, by="ann") == pytest.approx(QUANTUM)


@pytest.mark.parametrize("spent", [0.001, 0.02])
def test_how_long_a_draw_took_does_not_show(
    world: World, monkeypatch: pytest.MonkeyPatch, spent: float
) -> None:
    asked = releases.request

    def slowly(*arguments: Any) -> Any:
        world.stopwatch.now += spent
        return asked(*arguments)

    monkeypatch.setattr(releases, "request", slowly)
    assert seconds_of(world, "POST", ASK, {}, "ian") == pytest.approx(QUANTUM)


def test_a_wide_vector_has_as_many_quanta_as_drawing_it_may_take(world: World) -> None:
    wide = {**QUERY, "name": "wide", "keys": None, "values": [0] * (VALUES_PER_QUANTUM + 1)}
    world.answer("POST", "/api/v1/queries", wide, by="root")
    path = "/api/v1/queries/wide/releases"
    assert seconds_of(world, "POST", path, {}, "ann") == pytest.approx(2 * QUANTUM)
    assert seconds_of(world, "POST", path, {}, "ian") == pytest.approx(2 * QUANTUM)


def test_the_pace_is_measured_from_each_request_and_not_from_a_common_clock(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a caller could choose the phase and read the duration off its multiples."""
    found = users.show

    def slowly(*arguments: Any) -> Any:
        world.stopwatch.now += 0.005
        return found(*arguments)

    monkeypatch.setattr(users, "show", slowly)
    for phase in (0.0, 0.007, 0.013, 0.021):
        world.stopwatch.now = 2000.0 + phase
        took = seconds_of(world, "GET", "/api/v1/users/nobody", by="root")
        assert took == pytest.approx(QUANTUM)
