"""Test that verification tells that a database lacks what the witness saw."""

from tests.unit.worlds import Restore, World

from penstock.services.verification.verification import verify


def test_a_log_that_is_shorter_than_the_witness_saw_is_told_of(
    visits: World, restore: Restore
) -> None:
    visits.ask("pia")
    seen = visits.server.sequencer.witness.seen().size
    assert verify(visits.server, visits.person("otto")).problems == []
    old = restore()
    problems = verify(old.server, old.person("otto")).problems
    assert f"the witness saw {seen} leaves, which are not the first {seen} of these" in problems
