"""Test leaves of the log as auditors read them: filtered, and as they were hashed."""

import hashlib
import json

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import events, proofs
from penstock.services.pagination import Window

EVERYTHING = Window(limit=1000)


def test_events_are_filtered_and_say_what_was_hashed(visits: World) -> None:
    visits.ask("pia")
    visits.clock.forward(hours=1)
    visits.ask("paul")
    auditor = visits.person("otto")
    everything = events.listing(visits.server, auditor, EVERYTHING).items
    with visits.server.database.read() as session:
        leaves = session.exec(select(Leaf)).all()
    assert [event.index for event in everything] == list(range(len(leaves)))
    for event, leaf in zip(everything, leaves, strict=True):
        assert event.leaf == json.loads(leaf.bytes)
        assert event.leaf_hash == hashlib.sha256(b"\x00" + leaf.bytes).hexdigest()
    released = events.listing(visits.server, auditor, EVERYTHING, kind="release").items
    assert [event.leaf["user"] for event in released] == ["pia", "paul"]
    late = events.listing(visits.server, auditor, EVERYTHING, since=visits.clock.now).items
    assert [event.leaf["user"] for event in late] == ["paul"]
    of_paul = events.listing(visits.server, auditor, EVERYTHING, user="paul").items
    assert {event.leaf["kind"] for event in of_paul} == {"user", "release"}
    with pytest.raises(Forbidden):
        events.listing(visits.server, visits.person("pia"), EVERYTHING)


@pytest.mark.each_database
@pytest.mark.parametrize("part", [events.PART, 1])
def test_events_of_a_tier_are_searched_in_parts(
    visits: World, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(events, "PART", part)
    for name in ("pia", "ines"):
        visits.ask(name)
    auditor = visits.person("otto")
    of_tier = events.listing(visits.server, auditor, EVERYTHING, tier="internal").items
    everything = events.listing(visits.server, auditor, EVERYTHING).items
    assert of_tier == [event for event in everything if event.leaf.get("tier") == "internal"]
    assert of_tier[-1].leaf["user"] == "ines"
    assert len(events.listing(visits.server, auditor, Window(limit=1), tier="internal").items) == 1


def test_the_log_tells_every_change_that_could_permit_a_release(visits: World) -> None:
    kinds = [
        event.leaf["kind"] for event in events.listing(visits.server, OPERATOR, EVERYTHING).items
    ]
    assert kinds == (
        ["tier"] * 3 + ["user"] * 5 + ["dataset"] + ["budget"] * 3 + ["query"] + ["level"] * 3
    )


@pytest.mark.parametrize("newest_first", [False, True])
def test_every_leaf_is_read_page_by_page(
    visits: World, monkeypatch: pytest.MonkeyPatch, *, newest_first: bool
) -> None:
    monkeypatch.setattr(events, "LARGEST_LIMIT", 3)
    size = proofs.size(visits.server)
    everything = events.every(visits.server, OPERATOR, newest_first=newest_first)
    first = next(everything)
    visits.ask("pia")  # later than the checkpoint at the start
    indices = [event.index for event in (first, *everything)]
    assert indices == sorted(range(size), reverse=newest_first)
    with pytest.raises(Forbidden):
        events.every(visits.server, visits.person("pia"))


@pytest.mark.each_database
def test_admins_read_what_admins_did_and_not_who_received_what(visits: World) -> None:
    for name in ("pia", "ines"):
        visits.ask(name)
    ada, otto = visits.person("ada"), visits.person("otto")
    found = events.administered(visits.server, ada, 5)
    everything = events.listing(visits.server, otto, EVERYTHING, newest_first=True).items
    assert found == [event for event in everything if event.leaf["kind"] in events.ADMINISTERED][:5]
    assert len(found) == 5
    every_kind = {event.leaf["kind"] for event in events.administered(visits.server, ada, 1000)}
    assert "release" not in every_kind
    assert not every_kind & {"stream", "token", "refusals"}
    with pytest.raises(Forbidden):
        events.administered(visits.server, visits.person("ines"), 5)
