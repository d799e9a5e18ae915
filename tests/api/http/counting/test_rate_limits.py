"""Test the rate limits: buckets by principal, failed sign-ins by address."""

from collections.abc import Callable

import pytest
from tests.api.world import Stopwatch, World, parsed

from penstock.http.counting.rate_limits import BYTES, LAYOUT, WAYS, Allowance, Buckets, network
from penstock.http.counting.shared_memory import Shared

ME = "/api/v1/me"
ALLOWANCE = Allowance(burst=4, rate=2.0)


def buckets(clock: Callable[[], float], memory: Shared | None = None) -> Buckets:
    return Buckets(memory or Shared(BYTES, LAYOUT), 0, bytes(32), clock)


def test_a_bucket_gives_a_burst_and_then_what_its_rate_allows() -> None:
    watch = Stopwatch()
    bucket = buckets(watch)
    assert [bucket.take("ann", ALLOWANCE) for _ in range(4)] == [0, 0, 0, 0]
    assert bucket.take("ann", ALLOWANCE) == pytest.approx(0.5)
    watch.now += 0.25
    assert bucket.take("ann", ALLOWANCE) == pytest.approx(0.25), "a refusal costs nothing"
    watch.now += 0.25
    assert bucket.take("ann", ALLOWANCE) == 0
    assert bucket.take("ann", ALLOWANCE) == pytest.approx(0.5)
    watch.now += 1000
    assert [bucket.take("ann", ALLOWANCE) for _ in range(4)] == [0, 0, 0, 0]
    assert bucket.take("ann", ALLOWANCE) > 0, "no more than a burst is ever saved up"


def test_everybody_has_a_bucket_of_their_own() -> None:
    bucket = buckets(Stopwatch())
    while not bucket.take("ann", ALLOWANCE):
        pass
    assert bucket.take("ian", ALLOWANCE) == 0


def test_who_owes_more_than_a_burst_of_seconds_pays_no_request_until_that_is_back() -> None:
    watch = Stopwatch()
    bucket = buckets(watch)
    seconds = Allowance(burst=2, rate=1.0)
    bucket.use("seconds of ann", seconds, 3.0)
    for _ in range(10):
        owed, wait = bucket.take_unless_owed("ann", ALLOWANCE, "seconds of ann", seconds)
        assert owed == pytest.approx(3.0)
        assert wait == 0
    watch.now += 1.0
    taken = [bucket.take_unless_owed("ann", ALLOWANCE, "seconds of ann", seconds) for _ in range(5)]
    assert [wait for _, wait in taken] == [0, 0, 0, 0, pytest.approx(0.5)], "a refusal cost nothing"
    assert [owed for owed, _ in taken] == pytest.approx([2.0] * 5)


def test_a_rate_of_zero_is_no_limit() -> None:
    bucket = buckets(Stopwatch())
    assert not any(bucket.take("ann", Allowance(1, 0.0)) for _ in range(100))


def test_the_table_does_not_grow_and_forgets_those_first_who_asked_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.http.counting.rate_limits.ROWS", 1)
    bucket = buckets(Stopwatch())
    while not bucket.take("ann", ALLOWANCE):
        pass
    for number in range(20 * WAYS):
        assert bucket.take(f"stranger {number}", ALLOWANCE) == 0
    assert bucket.take("ann", ALLOWANCE) > 0, "who has used the most is remembered"


def test_nobody_chooses_whose_place_they_take() -> None:
    """Names fall where a key that they do not know lets them fall."""
    places = []
    for key in (bytes(32), b"another key of the server's own.."):
        memory = Shared(BYTES, LAYOUT)
        Buckets(memory, 0, key, Stopwatch()).take("ann", ALLOWANCE)
        with memory.locked() as found:
            places.append(bytes(found[:BYTES]))
    assert all(any(place) for place in places)
    assert places[0] != places[1]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
    ],
)
def test_addresses_are_counted_as_those_who_have_them(address: str, counted: str) -> None:
    assert network(address) == counted


@pytest.mark.only("sqlite")
def test_a_principal_is_told_when_to_ask_again_and_others_are_not_held_up(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(request_burst=3, request_rate=0.5, time_quantum=0.0)
    assert [world.call("GET", ME, by="ann").status_code for _ in range(3)] == [200] * 3
    refused = world.call("GET", ME, by="ann")
    assert refused.status_code == 429
    assert refused.content_type == "application/problem+json"
    assert refused.headers["Retry-After"] == "2"
    assert (parsed(refused)["code"], parsed(refused)["retry_after"]) == ("TOO_MANY_REQUESTS", 2)
    assert world.call("GET", ME, by="ian").status_code == 200
    world.stopwatch.now += 2
    assert world.call("GET", ME, by="ann").status_code == 200
    assert world.call("GET", ME, by="ann").status_code == 429


@pytest.mark.only("sqlite")
def test_an_analyst_tries_so_many_questions_in_a_minute_and_admins_as_many_as_they_need(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(questions_per_minute=2, time_quantum=0.0)
    asked = {"query": "visits"}
    for path in ("/queries/preview", "/requests"):
        assert world.call("POST", f"/api/v1{path}", asked, by="ann").status_code in (200, 422)
    for path in ("/queries/preview", "/queries/dummy", "/streams/preview", "/requests", "/queries"):
        refused = world.call("POST", f"/api/v1{path}", asked, by="ann")
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "30"), path
        assert "PENSTOCK_QUESTIONS_PER_MINUTE" in parsed(refused)["detail"]
    assert world.call("GET", "/api/v1/queries", by="ann").status_code == 200
    assert world.call("POST", "/api/v1/queries/visits/releases", {}, by="ann").status_code == 200
    assert world.call("POST", "/api/v1/queries/preview", asked, by="ian").status_code == 200
    for _ in range(4):
        assert world.call("POST", "/api/v1/queries/preview", asked, by="root").status_code == 200
    world.stopwatch.now += 30
    assert world.call("POST", "/api/v1/queries/preview", asked, by="ann").status_code == 200
    assert world.call("POST", "/api/v1/queries/preview", asked, by="ann").status_code == 429


@pytest.mark.only("sqlite")
def test_all_tokens_of_a_principal_draw_on_one_bucket(open_copy: Callable[..., World]) -> None:
    world = open_copy(request_burst=2, request_rate=0.1)
    world.tokens["second"] = world.answer("POST", "/api/v1/users/ann/tokens", {}, by="ann")["token"]
    assert world.call("GET", ME, by="second").status_code == 200
    assert world.call("GET", ME, by="ann").status_code == 429


@pytest.mark.only("sqlite")
def test_a_refused_release_writes_and_reads_nothing(open_copy: Callable[..., World]) -> None:
    world = open_copy(request_burst=1, request_rate=0.1)
    world.call("GET", ME, by="ian")
    world.server.database.close()
    path = world.server.settings.database_path / "penstock.db"
    before = path.read_bytes()
    for query in ("visits", "secret", "absent"):
        answer = world.call("POST", f"/api/v1/queries/{query}/releases", {}, by="ian")
        assert answer.status_code == 429
    world.server.database.close()
    assert path.read_bytes() == before


@pytest.mark.only("sqlite")
def test_an_address_that_sends_bad_tokens_is_told_so_whatever_is_wrong_with_them(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(failed_sign_ins=5)
    callers = ("malformed", "expired", "revoked", "gone")
    for number in range(5):
        assert world.call("GET", ME, by=callers[number % 4]).status_code == 401
    answers = [world.call("GET", ME, by=caller) for caller in callers]
    assert [answer.status_code for answer in answers] == [429] * 4
    bodies = [{**parsed(answer), "request_id": ""} for answer in answers]
    assert all(body == bodies[0] for body in bodies), "nothing tells which of them exists"
    # Refusals slept, so that a little of the minute is over.
    assert answers[0].headers["Retry-After"] == "12"
    world.stopwatch.now += 12
    assert world.call("GET", ME, by="revoked").status_code == 401
    assert world.call("GET", ME, by="revoked").status_code == 429


@pytest.mark.only("sqlite")
def test_a_valid_token_is_let_in_from_an_address_that_sends_bad_ones(
    open_copy: Callable[..., World],
) -> None:
    """Accept it, since guessing a token is hopeless, and an address may be that of a proxy."""
    world = open_copy(failed_sign_ins=1)
    for _ in range(5):
        world.call("GET", ME, by="malformed")
    assert world.call("GET", ME, by="malformed").status_code == 429
    assert world.call("GET", ME, by="ann").status_code == 200


@pytest.mark.only("sqlite")
def test_who_sends_no_token_has_not_failed_to_sign_in(open_copy: Callable[..., World]) -> None:
    world = open_copy(failed_sign_ins=1)
    assert [world.call("GET", ME).status_code for _ in range(5)] == [401] * 5


@pytest.mark.only("sqlite")
def test_a_client_does_not_choose_its_address(open_copy: Callable[..., World]) -> None:
    world = open_copy(failed_sign_ins=1)
    statuses = []
    for number in range(3):
        claimed = {"X-Forwarded-For": f"192.0.2.{number}", "Forwarded": f"for=192.0.2.{number}"}
        statuses.append(world.call("GET", ME, by="malformed", headers=claimed).status_code)
    assert statuses == [401, 429, 429]
