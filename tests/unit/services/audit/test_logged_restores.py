"""Test that floors, lost accounts and frozen queries are those of the restores in the log."""

from dataclasses import replace

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.audit.logged_restores import LoggedRestores
from penstock.transparency_log.sights import Sight


def messages(world: World, seen: Sight, *more: dict[str, object]) -> list[str]:
    """Return what a log with ``more`` leaves says, before a witness that kept ``seen``."""
    subject = LoggedRestores()
    for leaf in (*logged.leaves(world), *more):
        subject.take(leaf)
    with world.server.database.read() as session:
        return list(subject.differences(session, seen))


def test_an_account_that_the_witness_saw_spend_more_is_told_unless_it_is_lost(world: World) -> None:
    world.push()
    seen = world.server.sequencer.witness.seen()
    assert seen.accounts
    assert messages(world, seen) == []
    name, (loss, failure) = next(iter(seen.accounts.items()))
    more = replace(seen, accounts={**seen.accounts, name: (loss + 1, failure)})
    assert messages(world, more) == [f"account {name} has spent less than the witness saw"]
    assert messages(world, more, {"kind": "restore", "accounts": [name]}) == []


def test_floors_and_frozen_queries_are_counted(world: World) -> None:
    world.push()
    seen = world.server.sequencer.witness.seen()
    assert messages(world, seen, {"kind": "restore", "frozen": 1}) == [
        "the queries frozen by a restore are not those of the log"
    ]
    for kind in ("restore", "budget"):
        assert messages(world, seen, {"kind": kind, "charged": 1}) == [
            "what was spent before a restore is not what the log has"
        ]
