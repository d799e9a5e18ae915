"""Whoever compares the database with the log's witness, while others write."""

import pytest
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.audit import verification
from penstock.services.operations import home
from penstock.transparency_log.sights import Sight
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
