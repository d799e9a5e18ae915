"""Test that however a suspension ends, the log tells it."""

import pytest
from tests.unit.worlds import Restore, World

from penstock.errors import Suspended
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events, restores
from penstock.services.operations import home
from penstock.services.pagination import Window
from penstock.services.verification.verification import verify
from penstock.transparency_log import suspension
from penstock.transparency_log.sights import Sight


def told(world: World) -> list[object]:
    """Return kind and state of the leaves about suspensions and restores."""
    leaves = [
        event.leaf
        for event in events.listing(world.server, world.person("otto"), Window()).items
        if event.leaf["kind"] in ("suspension", "restore")
    ]
    return [leaf.get("state", leaf["kind"]) for leaf in leaves]


def reopened(world: World) -> World:
    """Return the same home, opened by another process."""
    world.server.database.close()
    server = home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)
    return World(server, world.clock, world.streams)


@pytest.fixture
def early(visits: World) -> World:
    visits.ask("pia")
    return visits


def test_an_acknowledged_suspension_is_found_and_acknowledged(
    early: World, restore: Restore
) -> None:
    early.ask("paul")
    old = restore()
    assert old.server.sequencer.witness.seen().suspended_at
    assert told(old) == [], "what was found has no place yet"
    restores.acknowledge(old.server, OPERATOR)
    old.push("fresh", share=0.01, levels=None)
    assert told(old) == ["found", "restore"]
    assert not old.server.sequencer.witness.seen().suspended_at
    again = reopened(old)
    again.push("more", share=0.01, levels=None)
    assert told(again) == ["found", "restore"]
    assert verify(again.server, OPERATOR).problems == []
    again.server.database.close()


@pytest.mark.only("sqlite")
def test_a_newest_database_that_is_brought_back_tells_of_the_suspension(
    early: World, restore: Restore
) -> None:
    """That of the older one, which nobody has any more, is remembered by the witness."""
    early.ask("paul")
    old = restore()
    since = old.server.sequencer.witness.seen().suspended_at
    kept = (old.server.settings.witness_path / "log.json").read_bytes()
    (early.server.settings.witness_path / "log.json").write_bytes(kept)
    newest = reopened(early)
    assert newest.server.sequencer.suspended is None
    newest.push("fresh", share=0.01, levels=None)
    assert told(newest) == ["ended"]
    last = [
        event.leaf
        for event in events.listing(newest.server, newest.person("otto"), Window()).items
        if event.leaf["kind"] == "suspension"
    ][-1]
    assert (last["since"], last["actor"]) == (since, "server")
    assert newest.server.sequencer.witness.seen().suspended_at == ""
    newest.push("more", share=0.01, levels=None)
    assert told(newest) == ["ended"], "it is told once"
    assert verify(newest.server, OPERATOR).problems == []
    newest.server.database.close()


def test_another_witness_that_knew_less_ends_a_suspension_in_the_log(
    early: World, restore: Restore
) -> None:
    """It is one that the server wrote, so that it authenticates: the database remembers."""
    path = early.server.settings.witness_path / "log.json"
    lower = path.read_bytes()
    early.ask("paul")
    old = restore()
    (old.server.settings.witness_path / "log.json").write_bytes(lower)
    again = reopened(old)
    assert again.server.sequencer.suspended is None
    again.push("fresh", share=0.01, levels=None)
    assert told(again) == ["found", "ended"]
    assert verify(again.server, OPERATOR).problems == []
    again.server.database.close()


def test_what_is_found_while_it_is_served_is_remembered_as_well(visits: World) -> None:
    """The database was taken from below a server that runs."""
    witness = visits.server.sequencer.witness
    seen = witness.seen()
    witness.start_over(Sight(seen.size + 1, b"x" * 32, seen.accounts))
    with pytest.raises(Suspended):
        visits.push("more", share=0.01, levels=None)
    visits.server.sequencer._hand.submit(lambda: None).result()
    assert witness.seen().suspended_at
    witness.start_over(seen)
    visits.push("more", share=0.01, levels=None)
    assert told(visits) == ["found", "ended"]
    assert verify(visits.server, OPERATOR).problems == []


def test_a_suspension_that_nobody_tells_is_missed(
    early: World, restore: Restore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variant that only suspends: the log does not know of it."""
    lower = (early.server.settings.witness_path / "log.json").read_bytes()
    early.ask("paul")
    monkeypatch.setattr(suspension, "suspend", lambda *_: None)
    old = restore()
    (old.server.settings.witness_path / "log.json").write_bytes(lower)
    again = reopened(old)
    again.push("fresh", share=0.01, levels=None)
    assert told(again) == []
    again.server.database.close()


def test_the_log_says_why_a_witness_was_given_up(visits: World) -> None:
    path = visits.server.settings.witness_path / "log.json"
    path.write_bytes(path.read_bytes().replace(b'"size": ', b'"size":1'))
    restores.acknowledge(visits.server, OPERATOR)
    last = events.listing(visits.server, visits.person("otto"), Window()).items[-1].leaf
    assert "does not authenticate" in last["lost"]
    assert "witnessed" not in last
