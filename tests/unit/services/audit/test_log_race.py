"""Test comparing the database with the log's witness, while others write."""

import pytest
from sqlmodel import Session, select
from tests.unit.worlds import World

from penstock.persistence.tables import Charge
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.verification import verification
from penstock.transparency_log.sights import Sight
from penstock.transparency_log.sinks import forwarding
from penstock.transparency_log.witness import FileWitness

pytestmark = pytest.mark.each_database


def test_what_others_write_meanwhile_does_not_look_like_a_loss(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = ["pia", "paul"]
    held: list[str] = []
    product = FileWitness.seen

    def seen(witness: FileWitness) -> Sight:
        if readers and not held:
            held.append(readers.pop())
            assert visits.ask(held[0]).first
            held.clear()
        return product(witness)

    monkeypatch.setattr(FileWitness, "seen", seen)
    opened = home.open_server(visits.server.settings)
    opened.database.close()
    assert opened.sequencer.suspended is None
    assert verification.verify(visits.server, OPERATOR).problems == []
    assert readers == []


def test_what_others_charge_meanwhile_does_not_look_like_a_loss(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = forwarding.differing

    def differing(session: Session, witness: FileWitness) -> list[str]:
        session.exec(select(Charge)).all()  # from here on it sees one state of the database
        visits.push("second", share=0.01, levels=None)
        return list(product(session, witness))

    before = visits.server.sequencer.witness.seen()
    monkeypatch.setattr(forwarding, "differing", differing)
    assert verification.verify(visits.server, OPERATOR).problems == []
    after = visits.server.sequencer.witness.seen()
    assert sum(loss for loss, _ in after.accounts.values()) > sum(
        loss for loss, _ in before.accounts.values()
    )
