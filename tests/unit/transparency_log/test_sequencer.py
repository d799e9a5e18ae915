"""Test what the witness is told of accounts, and what it is not asked to be told again."""

import pytest
from sqlmodel import Session
from tests.support.forked import in_child
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, streams
from penstock.services.streams.stream_totals import read
from penstock.transparency_log import sequencer, tree_store
from penstock.transparency_log.sequencer import accounts
from penstock.transparency_log.sights import Sight
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

    monkeypatch.setattr(sequencer, "accounts", counted)
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
