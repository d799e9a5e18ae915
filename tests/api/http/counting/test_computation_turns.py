"""Test processor seconds: they are counted for each user, and requests beyond them are refused."""

from itertools import count
from typing import Any

import pytest
from tests.api.world import QUERY, Stopwatch, World, parsed

from penstock.errors import TooManyRequests
from penstock.http.counting import computation_turns
from penstock.http.counting.computation_turns import PLACES, SharedTurns
from penstock.http.counting.rate_limits import BYTES, COVERED, LAYOUT, Buckets, Limits
from penstock.http.counting.shared_memory import Shared, nameless
from penstock.services.computations import computations
from penstock.services.computations.results import DescribedQuote
from penstock.settings import Settings

ME = "/api/v1/me"
PREVIEW = "/api/v1/queries/preview"
LONG = 60.0


def limits(watch: Stopwatch, **settings: float) -> Limits:
    made: Any = Settings(processor_burst=10.0, processor_rate=0.5)
    for name, value in settings.items():
        object.__setattr__(made, name, value)
    return Limits(Buckets(Shared(BYTES, LAYOUT), 0, bytes(32), watch), made)


def test_who_used_more_than_a_burst_waits_until_that_has_come_back() -> None:
    watch = Stopwatch()
    own = limits(watch)
    own.computed("ann", 12.0)
    with pytest.raises(TooManyRequests, match="used 12 seconds of a processor") as refused:
        own.request("ann")
    assert refused.value.data == {"retry_after": 4}
    own.request("ian")
    watch.now += 4.0
    own.request("ann")


def test_a_debt_adds_up_whatever_it_is_already() -> None:
    watch = Stopwatch()
    own = limits(watch)
    for _ in range(3):
        own.computed("ann", 30.0)
    with pytest.raises(TooManyRequests, match="used 90 seconds"):
        own.request("ann")


def test_requests_that_take_next_to_nothing_do_not_count() -> None:
    own = limits(Stopwatch(), request_rate=0.0)
    for _ in range(10_000):
        own.answered("ann", COVERED)
    own.request("ann")
    own.answered("ann", 11.0)
    with pytest.raises(TooManyRequests):
        own.request("ann")


def test_a_rate_of_zero_is_no_limit() -> None:
    own = limits(Stopwatch(), processor_rate=0.0)
    own.computed("ann", 1e9)
    own.request("ann")


def test_what_answers_take_is_counted_over_http(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the API and on its refusals alike, by the one who asks and nobody else."""
    monkeypatch.setattr("time.thread_time", count(step=100.0).__next__)
    assert world.call("GET", ME, by="ian").status_code == 200
    world.call("GET", "/api/v1/queries/absent", by="ian")
    refused = world.call("GET", ME, by="ian")
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "seconds of a processor" in parsed(refused)["detail"]
    assert world.call("GET", ME, by="root").status_code == 200


def test_a_person_has_one_preview_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    inner: list[int] = []
    worked_out = computations.quote
    spec = {**QUERY, "name": "another"}

    def slowly(*asked: Any, **named: Any) -> DescribedQuote:
        if not inner:
            inner.append(0)
            inner[0] = world.call("POST", PREVIEW, spec, by="root").status_code
            inner.append(world.call("POST", PREVIEW, spec, by="ian").status_code)
        return worked_out(*asked, **named)

    monkeypatch.setattr(computations, "quote", slowly)
    outer = world.call("POST", PREVIEW, spec, by="root")
    assert (outer.status_code, inner) == (200, [429, 200])
    assert world.call("POST", PREVIEW, spec, by="root").status_code == 200


@pytest.fixture
def memory() -> int:
    return nameless()


def test_turns_are_shared_and_end_with_whoever_was_killed(memory: int) -> None:
    watch = Stopwatch()
    here, there = (
        SharedTurns(
            Shared(computation_turns.BYTES, computation_turns.LAYOUT, memory), 0, bytes(32), watch
        )
        for _ in range(2)
    )
    assert here.take("ann", LONG)
    assert not there.take("ann", LONG)
    assert there.take("ian", LONG)
    here.give("ann")
    assert there.take("ann", LONG)
    watch.now += LONG
    assert here.take("ann", LONG), "whoever was killed gave nothing back"


def test_a_full_table_of_turns_admits_nobody() -> None:
    watch = Stopwatch()
    own = SharedTurns(
        Shared(computation_turns.BYTES, computation_turns.LAYOUT), 0, bytes(32), watch
    )
    assert all(own.take(f"person {number}", LONG) for number in range(PLACES))
    assert not own.take("ann", LONG)
    own.give("person 7")
    assert own.take("ann", LONG)
