"""Test connections to PostgreSQL that are cut, at any octet and at any step of what is said."""

import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import make_url, null
from tests.databases.cluster import PASSWORD, Cluster
from tests.faults.figures import amounts
from tests.faults.findings import examine
from tests.faults.postgresql import load
from tests.faults.postgresql.load import Story, attempt
from tests.faults.postgresql.proxy import TO_DATABASE, TO_SERVER, Cut, Proxy
from tests.faults.races.unguarded import RUNG, drop_uniques
from tests.faults.reports import Reported
from tests.faults.stage import HANG, Ask, analyst, answer, asks, build, choices, opened, settings_of

from penstock.errors import IntegrityViolation, Interrupted, Unavailable
from penstock.randomness import Stream
from penstock.services.context import Server
from penstock.services.operations import home as homes_of
from penstock.services.releases import locked_state, releases
from penstock.services.releases.allowed import read_without_lock
from penstock.services.retry import ATTEMPTS

pytestmark = pytest.mark.only("postgresql")

NAMES = ["query-0", "query-1", "query-2"]
NEVER = 2**62
COMMIT = b"COMMIT\0"

KINDS = ("release", "release", "release", "repeat", "push", "reading", "registration")
_LOG = (b"INTO leaf", b"UPDATE leaf", b"INTO checkpoint")
MOMENTS: dict[str, tuple[bytes, ...]] = {
    "release": (b"READ COMMITTED", b"FOR UPDATE", b"INTO release", b'INTO "grant"', *_LOG),
    "repeat": (b"REPEATABLE READ",),
    "push": (b"READ COMMITTED", b"FOR UPDATE", b"INTO stream_output"),
    "reading": (b"READ COMMITTED", *_LOG),
    "registration": (b'INTO "query"', b"INTO charge", b"INTO query_level", b"INTO release", *_LOG),
}
COMMITS = {"release": 2, "repeat": 0, "push": 1, "reading": 2, "registration": 3}
"""Transactions that write: of the change, of the log's tree, of the anchor."""


@dataclass
class Stage:
    """Provide a server that reaches its database through a proxy, and counts its draws."""

    server: Server
    proxy: Proxy
    home: Path
    story: Story = field(default_factory=Story)
    draws: int = 0

    def fresh(self) -> Stream:
        self.draws += 1
        return Stream.fresh()


def with_stream(home: Path) -> None:
    build(home, analysts=2, names=NAMES)
    with opened(home) as server:
        load.open_stream(server)


@pytest.fixture
def stage(tmp_path: Path, template: Callable[..., Path], cluster: Cluster) -> Iterator[Stage]:
    home = template(tmp_path / "home", "cuts", with_stream)
    settings = settings_of(home)
    proxy = Proxy(cluster.port)
    there = make_url(settings.database_url).set(
        host="127.0.0.1",
        port=proxy.own_port,
        password=PASSWORD,
        query={"connect_timeout": f"{HANG:.0f}"},
    )
    url = there.render_as_string(hide_password=False)
    direct = homes_of.open_server(
        settings.model_copy(update={"database_url": url, "log_patience": HANG})
    )
    made = Stage(direct, proxy, home)
    made.server = replace(direct, randomness=made.fresh)
    yield made
    direct.database.close()
    proxy.close()


@dataclass
class Session:
    """Make requests of every kind, each to be cut and sent again."""

    stage: Stage
    ladders: dict[str, list[Ask]]
    used: int = 0

    def perform(self, kind: str) -> Callable[[], object]:
        """Return a request, which may be made twice."""
        server, story = self.stage.server, self.stage.story
        self.used += 1
        if kind == "push":
            first = load.following(server)
            return lambda: self._push(first)
        if kind == "reading":
            return lambda: story.read(server)
        if kind == "registration":
            return lambda: load.enroll(server, f"more-{self.used}")
        if kind == "repeat":
            told = story.answers[self.used % len(story.answers)]
            return lambda: self._repeat(told)
        name = NAMES[self.used % len(NAMES)]
        ask = self.ladders[name].pop()
        return lambda: story.ask(server, analyst(self.used % 2), ask)

    def _push(self, first: int) -> None:
        server = self.stage.server
        if load.following(server) == first:
            load.push(server, first)
        assert load.following(server) == first + load.BATCH

    def _repeat(self, told: Reported) -> None:
        now = answer(self.stage.server, told.analyst, told.ask)
        assert Reported.of(told.analyst, told.ask, now) == told


def session_of(stage: Stage) -> Session:
    ladders = {}
    for name in NAMES:
        rungs = [1 + int(rung) for rung in choices("cuts", name).permutation(4000)]
        ladders[name] = asks(stage.server, name, rungs)
    return Session(stage, ladders)


def measured(session: Session) -> dict[str, dict[str, int]]:
    """Return how many octets each kind of request takes in each direction, connecting included."""
    found = {}
    for kind in dict.fromkeys(KINDS):
        act = session.perform(kind)
        session.stage.proxy.arm(Cut(octets=NEVER))
        act()
        found[kind] = dict(session.stage.proxy.passed)
    return found


def cuts(sizes: dict[str, dict[str, int]]) -> Iterator[tuple[str, Cut]]:
    """Return kinds of requests, and where they are cut: by turns at an octet and at a message."""
    random = choices("where to cut")
    while True:
        kind = KINDS[int(random.integers(len(KINDS)))]
        times = 1 if random.integers(3) else 2 * ATTEMPTS
        where = (TO_DATABASE, TO_SERVER)[int(random.integers(2))]
        yield kind, Cut(where, int(random.integers(sizes[kind][where])), times=times)
        said = [(word, 0) for word in MOMENTS[kind]]
        said += [(COMMIT, skipped) for skipped in range(COMMITS[kind])]
        word, skipped = said[int(random.integers(len(said)))]
        unheard = bool(random.integers(2))
        yield kind, Cut(said=word, skipped=skipped, unheard=unheard, times=times)


@pytest.mark.parametrize("count", amounts("FAULTS_CUTS", few=20, many=100))
def test_whoever_is_cut_off_is_told_the_same_when_they_ask_again(stage: Stage, count: int) -> None:
    session = session_of(stage)
    wheres = cuts(measured(session))
    fallen = refused = 0
    for turn in itertools.count():
        kind, cut = next(wheres)
        act = session.perform(kind)
        stage.proxy.arm(cut)
        before = len(stage.story.answers)
        refused += attempt(lambda: (act(),)) is None  # noqa: B023 - called in this turn
        fallen += stage.proxy.disarm() > 0
        act()
        told = {(one.release, one.values) for one in stage.story.answers[before:]}
        assert len(told) == (kind == "release")
        if fallen == count:
            break
        assert turn < 3 * count + 10, "the cuts do not fall"
    assert 0 < refused < count
    stage.story.require_true(stage.server)


@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.nightly)])
def test_an_answer_that_is_lost_after_the_commit_is_found_and_not_drawn_again(
    stage: Stage, count: int
) -> None:
    rungs = range(1, 1 + count)
    pairs = (asks(stage.server, name, rungs) for name in NAMES[:2])
    for ask, other in zip(*pairs, strict=True):
        before = stage.draws
        stage.proxy.arm(Cut(said=COMMIT))
        stage.story.ask(stage.server, analyst(0), ask)
        assert stage.proxy.disarm() == 1
        assert stage.draws == before + 1
        stage.proxy.arm(Cut(said=COMMIT, times=2 * ATTEMPTS))
        with pytest.raises(Unavailable):
            answer(stage.server, analyst(0), other)
        assert stage.proxy.disarm() == ATTEMPTS
        stage.story.ask(stage.server, analyst(0), other)
        assert stage.draws == before + 2
    stage.story.require_true(stage.server)


def drawing_anew(patch: pytest.MonkeyPatch) -> None:
    """Ask again after a lost connection, and draw without looking what became of the release."""
    once: Callable[..., releases.Answer] = inspect.unwrap(releases.request)

    def unseen(*arguments: object) -> object:
        return read_without_lock(*arguments)[0], None  # type: ignore[arg-type]  # passed through

    def request(*arguments: object) -> releases.Answer:
        try:
            return once(*arguments)
        except Interrupted:
            with pytest.MonkeyPatch.context() as blind:
                blind.setattr(releases, "read_without_lock", unseen)
                blind.setattr(locked_state, "AT", null())
                blind.setattr(locked_state, "_statement", locked_state._statement.__wrapped__)
                return once(*arguments)

    patch.setattr(releases, "request", request)


def test_drawing_again_without_looking_is_refused_by_the_uniques(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing_anew(monkeypatch)
    (ask,) = asks(stage.server, NAMES[0], [7])
    stage.proxy.arm(Cut(said=COMMIT))
    with pytest.raises(IntegrityViolation, match="already has a release"):
        answer(stage.server, analyst(0), ask)


def test_drawing_again_without_looking_and_without_the_uniques_is_found_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop_uniques(stage.home, RUNG)
    drawing_anew(monkeypatch)
    (ask,) = asks(stage.server, NAMES[0], [7])
    stage.proxy.arm(Cut(said=COMMIT))
    told = stage.story.ask(stage.server, analyst(0), ask)
    assert stage.draws == 2
    assert examine(stage.server, [told], is_traced=False).divergent == 1
