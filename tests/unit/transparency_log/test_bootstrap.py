"""Test that a log is begun once: what is there already stays, a witness that saw more included."""

import pytest
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.errors import Suspended
from penstock.services.access.principals import OPERATOR
from penstock.services.verification.verification import verify
from penstock.transparency_log import bootstrap
from penstock.transparency_log.sights import Sight


def prepare(world: World) -> None:
    server = world.server
    bootstrap.prepare(server.database, server.provider, server.sequencer.witness, world.clock.now)


def test_beginning_again_changes_nothing(visits: World) -> None:
    visits.ask("pia")
    leaves, seen = logged.leaves(visits), visits.server.sequencer.witness.seen()
    prepare(visits)
    assert logged.leaves(visits) == leaves
    assert visits.server.sequencer.witness.seen() == seen
    assert verify(visits.server, OPERATOR).problems == []


def test_a_witness_that_was_behind_catches_up(visits: World) -> None:
    witness = visits.server.sequencer.witness
    newest = witness.seen()
    first = logged.first_checkpoint(visits)
    witness.start_over(first)
    assert witness.seen().size < newest.size
    prepare(visits)
    assert witness.seen() == newest


def test_a_witness_of_another_log_stays_as_it_is(visits: World) -> None:
    witness = visits.server.sequencer.witness
    stranger = Sight(9999, b"\x01" * 32)
    witness.start_over(stranger)
    with pytest.raises(Suspended, match="saw 9999 leaves"):
        prepare(visits)
    assert witness.seen() == stranger
