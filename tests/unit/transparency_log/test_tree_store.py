"""Test the log as a tree: whoever was answered has a leaf that signed checkpoints prove."""

import threading
from collections.abc import Mapping

import pytest
from sqlmodel import Session, col, select
from tests.databases.homes import PATIENCE
from tests.unit.worlds import World

from penstock.errors import IntegrityViolation, LogUnavailable
from penstock.persistence.tables import Checkpoint, Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proofs
from penstock.services.operations import home
from penstock.services.releases import history
from penstock.transparency_log import merkle, tree_store
from penstock.transparency_log.merkle import Frontier
from penstock.transparency_log.views import ReceiptView


def leaves(world: World) -> list[Leaf]:
    with world.server.database.read() as session:
        return list(session.exec(select(Leaf).order_by(col(Leaf.index).nulls_last())).all())


def sizes(world: World) -> list[int]:
    with world.server.database.read() as session:
        return list(session.exec(select(Checkpoint.size).order_by(col(Checkpoint.size))).all())


def proven(world: World, receipt: ReceiptView) -> bool:
    assert receipt.index is not None
    newest = proofs.checkpoint(world.server)
    found = proofs.inclusion(world.server, OPERATOR, receipt.index)
    return found.leaf_hash == receipt.leaf_hash and merkle.included(
        bytes.fromhex(receipt.leaf_hash),
        receipt.index,
        newest.size,
        [bytes.fromhex(one) for one in found.hashes],
        bytes.fromhex(newest.root_hash),
    )


def test_while_the_log_takes_nothing_in_nothing_is_answered_nor_drawn_twice(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The witness hangs: its release is stored, and answered once it does no longer."""
    free = threading.Event()
    witness = visits.server.sequencer.witness
    advance = witness.advance

    def hang(sight: object) -> None:
        free.wait()
        advance(sight)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(witness, "advance", hang)
    visits.server.sequencer.patience = 0.05
    taken = visits.streams.taken
    for _ in range(2):
        with pytest.raises(LogUnavailable, match="not answered"):
            visits.ask("pia")
    with pytest.raises(LogUnavailable):
        proofs.checkpoint(visits.server)
    free.set()
    visits.server.sequencer.patience = PATIENCE
    answer = visits.ask("pia")
    assert visits.streams.taken == taken + 1
    assert proven(visits, answer.view.receipt)
    assert history.values(visits.server, visits.person("pia"), answer.view.id).receipt.index


def test_with_its_witness_gone_nothing_is_drawn(visits: World) -> None:
    taken, stored = visits.streams.taken, leaves(visits)
    (visits.server.settings.witness_path / "log.json").unlink()
    with pytest.raises(LogUnavailable, match="is missing"):
        visits.ask("pia")
    assert (visits.streams.taken, leaves(visits)) == (taken, stored)


@pytest.mark.only("postgresql")
def test_what_a_crash_left_without_a_place_gets_one_with_the_next_answer(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> Mapping[int, object]:
        raise SystemError

    with monkeypatch.context() as patched:
        patched.setattr(tree_store, "integrate", crash)
        with pytest.raises(SystemError):
            visits.ask("pia")
    assert leaves(visits)[-1].index is None
    assert proofs.checkpoint(visits.server).size == len(leaves(visits)) - 1
    again = home.open_server(visits.server.settings, clock=visits.clock, randomness=visits.streams)
    taken = visits.streams.taken
    assert proven(visits, World(again, visits.clock, visits.streams).ask("pia").view.receipt)
    assert visits.streams.taken == taken
    again.database.close()


@pytest.mark.only("postgresql")
def test_many_leaves_go_into_the_tree_under_one_checkpoint(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that come while one batch is written are the next one."""
    names = [f"q{number}" for number in range(6)]
    for name in names:
        world.push(name, levels={"public": {"epsilon": 0.01}})
    before, product = sizes(world), tree_store.integrate
    entered, free = threading.Event(), threading.Event()

    def slow(session: Session, *arguments: object) -> object:
        entered.set()
        free.wait()
        return product(session, *arguments)  # type: ignore[arg-type]  # passed through

    def stored() -> int:
        return sum(leaf.index is None for leaf in leaves(world))

    monkeypatch.setattr(tree_store, "integrate", slow)
    threads = [threading.Thread(target=world.ask, args=("pia", name)) for name in names]
    for thread in threads:
        thread.start()
    entered.wait()
    while stored() < len(names):
        pass
    free.set()
    for thread in threads:
        thread.join()
    assert len(sizes(world)) - len(before) <= 2
    assert sizes(world)[-1] == before[-1] + len(names)


def test_a_leaf_that_was_altered_before_it_had_a_place_is_not_taken_in(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merkle, "leaf_hash", lambda _: bytes(32))
    with pytest.raises(IntegrityViolation, match="altered"):
        visits.ask("pia")


def test_the_edge_of_another_tree_is_not_gone_on_from(visits: World) -> None:
    """A process keeps the edge that it wrote, though that transaction may have been undone."""
    first = visits.ask("pia").view.receipt
    sequencer, size = visits.server.sequencer, sizes(visits)[-1]
    for count in (size - 1, size, size + 3):
        other = Frontier()
        for number in range(count):
            other.add(bytes([number]) * 32)
        sequencer._edge = other
        epsilon = 0.3 + count / 1000
        assert proven(visits, visits.ask("ines", epsilon=epsilon).view.receipt)
    assert proven(visits, first)


def test_an_edge_from_before_what_another_process_wrote_is_led_on(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the hashes of the newest leaves, without reading the tree's."""
    other = home.open_server(visits.server.settings, clock=visits.clock, randomness=visits.streams)
    visits.ask("ines", epsilon=0.3)
    for number in range(5):
        World(other, visits.clock, visits.streams).ask("ines", epsilon=0.31 + number / 100)
    read: list[int] = []
    product = tree_store.edge

    def edge(session: Session, size: int) -> Frontier:
        read.append(size)
        return product(session, size)

    monkeypatch.setattr(tree_store, "edge", edge)
    assert proven(visits, visits.ask("ines", epsilon=0.4).view.receipt)
    assert read == []
    other.database.close()
