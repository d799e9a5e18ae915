"""Test acknowledgments of a restore that another process finishes."""

from tests.unit.worlds import Restore, World

from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.operations import home
from penstock.services.verification.verification import verify


def test_whoever_is_slow_to_begin_the_witness_anew_does_not_move_it_backward(
    visits: World, restore: Restore
) -> None:
    visits.ask("paul")
    old = restore()
    seen = old.server.sequencer.witness.seen()
    with old.server.database.write_unwatched() as session:
        _, after = restores.acknowledge_within(session, old.server, OPERATOR, seen)
    going = home.open_server(old.server.settings, clock=old.clock, randomness=old.streams)
    world = World(going, old.clock, old.streams)
    world.push("fresh", share=0.01, levels=None)
    newest = going.sequencer.witness.seen()
    after()
    assert going.sequencer.witness.seen() == newest
    assert world.ask("pia", "fresh").first
    assert verify(going, OPERATOR).problems == []
    going.database.close()
