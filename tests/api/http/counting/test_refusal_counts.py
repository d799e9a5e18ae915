"""Test counts of refused requests in the log.

By cause, without a name, one leaf an hour at most.
"""

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.api.served.serving import serve_copy
from tests.api.world import World
from tests.databases.homes import Home, Homes

from penstock.errors import LogUnavailable
from penstock.http.counting import counters, refusal_counts
from penstock.http.counting.shared_memory import Shared, nameless
from penstock.persistence.tables import Leaf
from penstock.services.audit.refusals import CAUSES
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.transparency_log import leaves
from penstock.transparency_log.witness import FileWitness

GUESS = {"Authorization": "Bearer eve-was-here"}
BYTES = 1 << 12


def log_leaves(server: Server) -> list[dict[str, Any]]:
    with server.database.read() as session:
        rows = session.exec(select(Leaf.bytes).where(col(Leaf.kind) == leaves.REFUSALS)).all()
        return [json.loads(row) for row in rows]


def size(server: Server) -> int:
    with server.database.read() as session:
        return len(session.exec(select(Leaf.id)).all())


def refuse(world: World) -> Counter[str]:
    """Cause refusals, and count them by cause.

    The causes: signing in, no token, a wrong token (twice), not allowed, not there.
    """
    origin = {"Origin": "http://127.0.0.1:8080"}
    form = {"token": "eve-was-here"}
    address = "https://127.0.0.1:8080"
    statuses = [
        world.client.post("/sign-in", base_url=address, headers=origin, data=form).status_code,
        world.call("GET", "/api/v1/me").status_code,
        world.call("GET", "/api/v1/me", headers=GUESS).status_code,
        world.call("GET", "/api/v1/queries/eve-was-here", headers=GUESS).status_code,
        world.call("GET", "/api/v1/audit/events", by="ann").status_code,
        world.call("GET", "/api/v1/queries/eve-was-here", by="ann").status_code,
        world.call("GET", "/eve-was-here").status_code,
    ]
    assert statuses == [401, 401, 401, 401, 403, 404, 404]
    return Counter(failed_sign_ins=1, not_signed_in=1, bad_tokens=2, not_allowed=1, not_found=2)


def test_what_was_refused_stands_in_the_log_an_hour_later(world: World) -> None:
    before = size(world.server)
    expected = refuse(world)
    world.stopwatch.now += refusal_counts.PERIOD / 2
    for _ in range(100):
        assert world.call("GET", "/eve-was-here").status_code == 404
    expected["not_found"] += 100
    assert size(world.server) == before, "the log does not grow by what is refused"
    world.stopwatch.now += refusal_counts.PERIOD / 2
    assert world.call("GET", "/healthz").status_code == 200
    while not (told := log_leaves(world.server)):
        time.sleep(0.01)
    (leaf,) = told
    assert Counter({cause: leaf[cause] for cause in CAUSES if cause in leaf}) == expected
    assert leaf["actor"] == "server"
    assert "eve" not in json.dumps(leaf)
    world.stopwatch.now += refusal_counts.PERIOD + 1
    world.call("GET", "/healthz")
    assert size(world.server) == before + 1, "nothing was refused since"


class Told:
    """Hold what the log was told, or refuse to be told."""

    def __init__(self) -> None:
        self.leaves: list[tuple[dict[str, int], float]] = []
        self.away = False

    def __call__(self, counts: Mapping[str, int], seconds: float) -> None:
        if self.away:
            raise LogUnavailable("away")
        self.leaves.append(({name: count for name, count in counts.items() if count}, seconds))


def test_workers_count_together_and_tell_once() -> None:
    memory, told, now = nameless(), Told(), [5.0]
    one, two = (
        refusal_counts.Refused(Shared(BYTES, "x", memory), 0, told, lambda: now[0])
        for _ in range(2)
    )
    one.count("not_signed_in")
    now[0] += 10
    two.count("not_allowed")
    two.count(None)
    one.close()
    two.close()
    assert told.leaves == [({"not_signed_in": 1, "not_allowed": 1}, 10.0)]


def test_what_the_log_does_not_take_stays_counted() -> None:
    told, now = Told(), [5.0]
    counter = refusal_counts.Refused(Shared(BYTES, "x"), 0, told, lambda: now[0])
    counter.count("too_often")
    told.away = True
    counter.close()
    counter.count("too_often")
    told.away = False
    counter.close()
    counter.close()
    assert [counts for counts, _ in told.leaves] == [{"too_often": 2}]


def test_what_is_told_late_is_told_since_when_it_was() -> None:
    """An hour later again, and with the time of its first, not that of a vain attempt."""
    told, now = Told(), [5.0]
    counter = refusal_counts.Refused(Shared(BYTES, "x"), 0, told, lambda: now[0])
    counter.count("too_often")
    told.away = True
    now[0] += refusal_counts.PERIOD
    counter.close()
    told.away = False
    now[0] += refusal_counts.PERIOD / 2
    counter.count("not_signed_in")
    now[0] += refusal_counts.PERIOD / 2
    assert told.leaves == []
    counter.count(None)
    counter.close()
    assert told.leaves == [({"too_often": 1, "not_signed_in": 1}, 2 * refusal_counts.PERIOD)]


def test_a_fault_of_ours_forgets_nothing() -> None:
    told = Told()

    def fail(counts: Mapping[str, int], seconds: float) -> None:
        raise ZeroDivisionError

    memory = Shared(BYTES, "x")
    failing = refusal_counts.Refused(memory, 0, fail, lambda: 5.0)
    failing.count("not_signed_in")
    with pytest.raises(ZeroDivisionError):
        failing.close()
    refusal_counts.Refused(memory, 0, told, lambda: 5.0).close()
    assert told.leaves == [({"not_signed_in": 1}, 0.0)]


def test_what_is_stored_and_waits_for_its_witness_is_told_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were it given back, every attempt would be one leaf more, and count all of them again."""
    counter = counters.opened(world.server, [], world.stopwatch).refused

    def away(*_: object) -> None:
        raise LogUnavailable("away")

    counter.count("not_signed_in")
    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "advance", away)
        counter.close()
    counter.close()
    counter.count("not_allowed")
    counter.close()
    told = [
        {name: leaf[name] for name in CAUSES if name in leaf} for leaf in log_leaves(world.server)
    ]
    assert told == [{"not_signed_in": 1}, {"not_allowed": 1}]


def test_what_is_being_told_is_waited_for_where_a_worker_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The log answers when the end was asked for, or when it came without waiting."""
    asked, go, now, order = threading.Event(), threading.Event(), [5.0], list[str]()

    def slowly(counts: Mapping[str, int], seconds: float) -> None:
        asked.set()
        go.wait()
        order.append("told")

    counter = refusal_counts.Refused(Shared(BYTES, "x"), 0, slowly, lambda: now[0])
    counter.count("not_signed_in")
    now[0] += refusal_counts.PERIOD
    counter.count(None)
    asked.wait()
    submit = counter._writer.submit

    def submitted(act: Callable[[], None]) -> object:
        future = submit(act)
        go.set()
        return future

    monkeypatch.setattr(counter._writer, "submit", submitted)
    counter.close()
    order.append("ended")
    go.set()
    while len(order) < 2:
        time.sleep(0.01)
    assert order == ["told", "ended"]


def test_both_of_a_servers_counters_are_in_one_memory(world: World) -> None:
    memory = nameless()
    one, two = (counters.opened(world.server, [], world.stopwatch, memory) for _ in range(2))
    one.refused.count("not_signed_in")
    two.refused.count("not_signed_in")
    two.refused.close()
    one.refused.close()
    assert [leaf["not_signed_in"] for leaf in log_leaves(world.server)] == [2]


@pytest.mark.only("sqlite")
def test_a_server_that_stops_tells_what_it_had_counted(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> None:
    serving = serve_copy(homes, furnished[0], tmp_path / "home")
    for _ in range(5):
        status, _ = serving.ask("GET", "/api/v1/nothing", None)
        assert status == 404
    assert serving.stop(signal.SIGTERM) == 0
    server = home.open_server(Home(tmp_path / "home", None, {}).settings())
    assert sum(leaf["not_found"] for leaf in log_leaves(server)) == 5
    server.database.close()
