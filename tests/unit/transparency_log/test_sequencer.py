"""Test what the witness is told of accounts, and what it is not asked to be told again."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, event
from sqlmodel import Session
from tests.support.forked import in_child
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proofs
from penstock.services.operations import home
from penstock.services.releases import history
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, streams
from penstock.services.streams.stream_totals import read
from penstock.transparency_log import checkpoints, spending, tree_store
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.spending import accounts
from penstock.transparency_log.witness import FileWitness

pytestmark = pytest.mark.each_database


def another(world: World) -> World:
    """Return another process's server of the same home."""
    opened = home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)
    return World(opened, world.clock, world.streams)


def spent(world: World) -> dict[str, tuple[int, int]]:
    with world.server.database.read() as session:
        return accounts(session)


def witnessed(world: World) -> dict[str, tuple[int, int]]:
    return dict(world.server.sequencer.witness.seen().accounts)


def test_the_witness_knows_what_accounts_have_spent(visits: World) -> None:
    assert len(spent(visits)) == 3
    assert witnessed(visits) == spent(visits)
    before = spent(visits)
    visits.push("second", share=0.01, levels=None)
    assert witnessed(visits) == spent(visits) != before


def test_hand_outs_add_nothing_up(visits: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither releases nor running totals: what accounts have spent does not change by them."""
    request = StreamRequest.model_validate(
        {
            "name": "hits",
            "dataset": "sites",
            "mechanism": "laplace",
            "length": 50,
            "max_steps_per_unit": 1,
            "levels": {"public": {"epsilon": 0.01}},
        }
    )
    streams.open_stream(visits.server, OPERATOR, request)
    assert witnessed(visits) == spent(visits)
    elements = ElementsRequest.model_validate({"from": 1, "values": [1, 2, 3]})
    stream_elements.push(visits.server, OPERATOR, "hits", elements)
    added: list[None] = []

    def counted(session: Session) -> dict[str, tuple[int, int]]:
        added.append(None)
        return accounts(session)

    monkeypatch.setattr(spending, "accounts", counted)
    visits.ask("pia")
    visits.ask("paul")
    for last in (1, 2):
        assert read(visits.server, visits.person("pia"), "hits", last=last).receipt.index
    assert added == []
    visits.push("second", share=0.01, levels=None)
    assert added
    assert witnessed(visits) == spent(visits)


def test_what_a_crash_kept_from_the_witness_it_is_told_with_the_next_answer(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was stopped had charged; who goes on charges nothing."""

    def crash(_: FileWitness, __: Sight) -> None:
        raise SystemError

    going = another(visits)
    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "advance", crash)
        with pytest.raises(SystemError):
            visits.push("second", share=0.01, levels=None)
    assert witnessed(visits) != spent(visits)
    going.ask("pia")
    assert witnessed(visits) == spent(visits)
    going.server.database.close()


@pytest.mark.only("sqlite")
def test_nothing_is_asked_of_the_database_after_the_commit(visits: World) -> None:
    """The transaction knows itself what the witness has to see."""
    statements: list[str] = []

    def sent(_: Connection, __: object, statement: str, *___: object) -> None:
        statements.append(statement)

    def ended(_: Connection) -> None:
        statements.clear()

    event.listen(Engine, "before_cursor_execute", sent)
    event.listen(Engine, "commit", ended)
    try:
        size = visits.server.sequencer.witness.seen().size
        assert visits.ask("pia").first
        assert statements == []
    finally:
        event.remove(Engine, "before_cursor_execute", sent)
        event.remove(Engine, "commit", ended)
    assert visits.server.sequencer.witness.seen().size == size + 1


@pytest.mark.only("sqlite")
def test_one_write_of_the_witness_serves_all_that_wait(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that commit while it is being written are witnessed together, by the next one."""
    sequencer, advance = visits.server.sequencer, FileWitness.advance
    before = sequencer.witness.seen()
    sights: list[Sight] = []
    writing, all_wait = threading.Event(), threading.Event()

    def slow(witness: FileWitness, sight: Sight) -> None:
        sights.append(sight)
        writing.set()
        all_wait.wait()
        advance(witness, sight)

    monkeypatch.setattr(FileWitness, "advance", slow)
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(visits.ask, "pia")]
        writing.wait()
        answers += [pool.submit(visits.ask, "paul"), pool.submit(visits.ask, "ines")]
        while sequencer._due is None or sequencer._due.size < before.size + 3:
            time.sleep(0.001)
        all_wait.set()
        places = [answer.result().view.receipt.index for answer in answers]
    assert sorted(place or 0 for place in places) == [before.size + n for n in range(3)]
    assert [sight.size for sight in sights] == [before.size + 1, before.size + 3]
    assert sequencer.witness.seen().size == before.size + 3


@pytest.mark.only("sqlite")
def test_what_waits_together_is_witnessed_with_what_any_of_it_charged(visits: World) -> None:
    """Whichever transaction comes last; and a look at the database sees all of it."""
    sequencer = visits.server.sequencer
    seen = sequencer.witness.seen()
    going = another(visits)
    going.push("second", share=0.01, levels=None)
    charged = spent(visits)
    sequencer.witness.start_over(seen)
    root = going.server.sequencer.witness.seen().root
    for due in (Sight(seen.size + 1, root, charged), Sight(seen.size + 2, root)):
        with sequencer._lock:
            sequencer._due = due if sequencer._due is None else sequencer._due.joined(due)
    assert sequencer._due is not None
    assert (sequencer._due.size, sequencer._due.accounts) == (seen.size + 2, charged)
    sequencer._must_read = True
    sequencer._run()
    assert sequencer._due is None
    assert witnessed(visits) == charged
    with visits.server.database.read() as session:
        newest = checkpoints.newest(session)
    assert newest is not None
    assert sequencer.witness.seen().size == newest.size
    going.server.database.close()


@pytest.mark.only("postgresql")
def test_whoever_gives_another_ones_leaves_their_places_tells_what_they_charged(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise SystemError

    going = another(visits)
    with monkeypatch.context() as patched:
        patched.setattr(tree_store, "integrate", crash)
        with pytest.raises(SystemError):
            visits.push("second", share=0.01, levels=None)
    going.ask("pia")
    assert witnessed(visits) == spent(visits)
    going.server.database.close()


def test_a_child_has_threads_of_its_own(visits: World) -> None:
    """As a server that is loaded once and then forked."""
    visits.ask("pia")
    visits.server.database.close()
    assert in_child(lambda: visits.ask("paul"))
    assert visits.ask("ines").view.receipt.index is not None


def test_what_a_stopped_server_left_is_witnessed_before_the_next_one_answers(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(_: FileWitness, __: Sight) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(FileWitness, "advance", crash)
        with pytest.raises(SystemError):
            visits.ask("pia")
    going = another(visits)
    witness = going.server.sequencer.witness
    before, receipt = witness.seen().size, going.ask("pia").view.receipt
    assert receipt.index is not None
    assert before <= receipt.index < witness.seen().size
    going.server.database.close()


@pytest.mark.parametrize("act", ["first", "repeat", "values", "values of a query", "checkpoint"])
def test_no_connection_is_held_while_the_log_is_waited_for(
    visits: World, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """Else as many requests as there are connections wait for the witness, and block the others."""
    receipt = visits.ask("ines").view.id
    server, ines = visits.server, visits.person("ines")
    acts: dict[str, Callable[[], object]] = {
        "first": lambda: visits.ask("ines", epsilon=0.3),
        "repeat": lambda: visits.ask("ines"),
        "values": lambda: history.values(server, ines, receipt),
        "values of a query": lambda: history.of_query(server, ines, "visits", most=5),
        "checkpoint": lambda: proofs.checkpoint(server),
    }
    held: list[int] = []
    product = server.sequencer._next_run

    def next_run(sight: Sight | None) -> object:
        engines = server.database._engines
        out = sum(pool.checkedout() for pool in {engines.reader.pool, engines.alone.pool})  # type: ignore[attr-defined]  # they are queues
        held.append(out - len(engines.once._idle))  # those are free for whoever reads next
        return product(sight)

    monkeypatch.setattr(server.sequencer, "_next_run", next_run)
    server.sequencer._witnessed = 0  # as if another process had written everything
    acts[act]()
    assert held == [0]
