"""Test that each leaf that is an event becomes one message, whoever reads the log and when."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlmodel import delete, select
from tests.unit.services.webhook.changes import EVENTS, clear, grant, telling
from tests.unit.services.webhook.receiver import with_webhook
from tests.unit.worlds import Restore, World

from penstock.persistence.tables import Delivery, LogReader
from penstock.services.access.principals import OPERATOR
from penstock.services.webhook import log_reading, outbox

pytestmark = pytest.mark.each_database


def events(world: World) -> list[tuple[str, int | None]]:
    return [(view.event, view.leaf) for view in outbox.listing(world.server, OPERATOR)]


def next_leaf(world: World) -> int:
    with world.server.database.read() as session:
        return session.exec(select(LogReader.next_leaf)).one()


def test_by_default_no_leaf_is_sent_and_a_kind_that_is_switched_on_is_from_then_on(
    world: World,
) -> None:
    told = with_webhook(world, "https://example.org/")
    log_reading.read_on(told.server)
    grant(told, "internal", 5)
    log_reading.read_on(told.server)
    assert events(told) == []
    told = with_webhook(world, "https://example.org/", "budget.raised")
    clear(told, "pia", "internal")
    log_reading.read_on(told.server)
    assert events(told) == []
    grant(told, "internal", 6)
    log_reading.read_on(told.server)
    log_reading.read_on(told.server)
    assert events(told) == [("budget.raised", next_leaf(told) - 1)]


def test_what_others_changed_is_told_once_by_several_who_read(world: World) -> None:
    told = telling(world)
    for epsilon in (5, 6, 7):
        grant(world, "internal", epsilon)  # by a process that knows no webhook
        barrier = Barrier(2)

        def read(_: int, barrier: Barrier = barrier) -> None:
            barrier.wait()
            log_reading.read_on(told.server)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(read, range(2)))
    assert [event for event, _ in events(told)] == ["budget.raised"] * 3


def test_two_who_begin_to_read_at_once_make_one_beginning(world: World) -> None:
    told = with_webhook(world, "https://example.org/", EVENTS)
    barrier = Barrier(2)

    def read(_: int) -> None:
        barrier.wait()
        log_reading.read_on(told.server)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(read, range(2)))
    assert [event for event, _ in events(told)] == ["budget.raised"] * 3


def test_a_first_reader_begins_at_what_happened_within_thirty_days(world: World) -> None:
    told = with_webhook(world, "https://example.org/", EVENTS)
    told.clock.forward(days=20)
    grant(told, "internal", 5)
    told.clock.forward(days=20)
    log_reading.read_on(told.server)
    ((event, leaf),) = events(told)
    assert (event, leaf) == ("budget.raised", next_leaf(told) - 1)


def test_a_reader_that_ends_before_it_commits_has_read_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = telling(world)
    grant(told, "internal", 5)
    before, store = next_leaf(told), log_reading._store

    def stopped(*arguments: Any) -> None:
        store(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log_reading, "_store", stopped)
        with pytest.raises(KeyboardInterrupt):
            log_reading.read_on(told.server)
    assert (events(told), next_leaf(told)) == ([], before)
    log_reading.read_on(told.server)
    assert [event for event, _ in events(told)] == ["budget.raised"]


def test_a_long_log_is_read_in_parts_and_leaves_without_events_are_passed_over(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reading, "PART", 3)
    told = telling(visits)
    for epsilon in (5, 6, 7, 8):
        grant(told, "internal", epsilon)
    told.ask("pia")
    log_reading.read_on(told.server)
    assert [event for event, _ in events(told)] == ["budget.raised"] * 4
    read = next_leaf(told)
    told.ask("paul")
    told.ask("ines")
    log_reading.read_on(told.server)
    assert next_leaf(told) == read  # two leaves are fewer than what is worth a note
    told.ask("pia", epsilon=0.01)
    log_reading.read_on(told.server)
    assert next_leaf(told) == read + 3


def test_a_message_that_the_database_does_not_have_any_more_has_its_identifier_again(
    visits: World,
) -> None:
    told = telling(visits)
    grant(told, "internal", 5)
    log_reading.read_on(told.server)
    (first,) = outbox.listing(told.server, OPERATOR)
    with told.server.database.write() as session:
        session.exec(delete(Delivery))
        session.exec(delete(LogReader))
    log_reading.read_on(told.server)
    *_, again = outbox.listing(told.server, OPERATOR)
    assert (again.id, again.leaf) == (first.id, first.leaf)


def test_a_suspension_that_was_told_without_a_place_is_not_told_again_when_it_has_one(
    visits: World, restore: Restore
) -> None:
    visits.ask("pia")
    old = telling(restore())
    log_reading.read_on(old.server)
    assert events(old) == [("server.suspended", None)]
    # As it does when a restore is acknowledged, the leaf gets its place.
    with old.server.database.write_unwatched() as session:
        old.server.sequencer.place_now(session)
    log_reading.read_on(old.server)
    ((event, leaf),) = events(old)
    assert (event, leaf is not None) == ("server.suspended", True)
