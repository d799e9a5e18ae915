"""Test what is counted as new in the log, and what is said of its state."""

from collections import Counter

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.audit import events
from penstock.services.overviews import log_news
from penstock.services.pagination import Window


def since(world: World, seen: int) -> log_news.LogNewsView:
    return log_news.since(world.server, world.person("otto"), seen)


@pytest.mark.each_database
def test_what_came_after_a_size_is_counted_by_kind(visits: World) -> None:
    everything = events.listing(visits.server, visits.person("otto"), Window(1000)).items
    first = since(visits, 0)
    assert first.kinds == Counter(event.leaf["kind"] for event in everything)
    assert (first.size, first.new, first.counted, first.lost) == (*[len(everything)] * 3, 0)
    visits.ask("pia")
    visits.ask("ines")
    later = since(visits, first.size)
    assert (later.kinds, later.new, later.seen) == ({"release": 2}, 2, first.size)
    nothing = since(visits, later.size)
    assert (nothing.kinds, nothing.new, nothing.lost) == ({}, 0, 0)


def test_a_log_that_is_shorter_than_what_was_seen_is_reported(visits: World) -> None:
    size = since(visits, 0).size
    found = since(visits, size + 3)
    assert (found.lost, found.new, found.kinds) == (3, 0, {})


def test_of_very_many_entries_the_newest_are_counted(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits.ask("pia")
    monkeypatch.setattr(log_news, "MOST", 1)
    found = since(visits, 0)
    assert (found.kinds, found.counted) == ({"release": 1}, 1)
    assert found.new == found.size > 1


def test_the_state_of_the_log_is_that_of_its_proofs(visits: World) -> None:
    visits.ask("pia")
    found = log_news.health(visits.server, visits.person("otto"))
    assert found.status.sound
    assert found.status.leaves == since(visits, 0).size
    assert (found.cosigners, found.cosigned) == (0, None)


def test_only_auditors_are_told(visits: World) -> None:
    for name in ("pia", "ada"):
        with pytest.raises(Forbidden):
            log_news.since(visits.server, visits.person(name), 0)
        with pytest.raises(Forbidden):
            log_news.health(visits.server, visits.person(name))
