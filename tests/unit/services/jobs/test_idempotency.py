"""Test that a keyed request is done once, answered again as before, and nobody else's."""

from datetime import timedelta

import pytest
from sqlmodel import select
from tests.altered_bytes import altered
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation, InvalidInput
from penstock.persistence.tables import Idempotency
from penstock.services.jobs import idempotency


def sent(world: World, *parts: bytes) -> bytes:
    return idempotency.fingerprint(world.server, *parts)


def test_a_key_is_given_up_after_three_other_requests(visits: World) -> None:
    ada, server = visits.person("ada"), visits.server
    own, other = idempotency.fingerprint(server, b"own"), idempotency.fingerprint(server, b"other")
    begun = idempotency.open_request(server, ada, "key", own)
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.finish(server, begun, 201, b"{}")
    for _ in range(idempotency.MOST_MISMATCHES):
        assert isinstance(idempotency.open_request(server, ada, "key", own), idempotency.Replay)
        with pytest.raises(InvalidInput, match="another request"):
            idempotency.open_request(server, ada, "key", other)
    with pytest.raises(InvalidInput, match="another request"):
        idempotency.open_request(server, ada, "key", own)
    with server.database.read() as session:
        assert session.exec(select(Idempotency)).one().mismatches == idempotency.MOST_MISMATCHES
    # Somebody else's key of the same name is another key.
    assert isinstance(
        idempotency.open_request(server, visits.person("otto"), "key", other),
        idempotency.OpenRequest,
    )
    visits.clock.now += timedelta(days=2)
    assert isinstance(idempotency.open_request(server, ada, "key", own), idempotency.OpenRequest)


def test_what_was_answered_is_answered_again_and_only_to_its_sender(visits: World) -> None:
    ada, request = visits.person("ada"), sent(visits, b"body")
    begun = idempotency.open_request(visits.server, ada, "key", request)
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.finish(visits.server, begun, 201, b"answer")
    assert idempotency.open_request(visits.server, ada, "key", request) == idempotency.Replay(
        201, b"answer"
    )
    other = idempotency.open_request(visits.server, visits.person("otto"), "key", request)
    assert isinstance(other, idempotency.OpenRequest)


def test_an_answer_that_was_put_there_is_refused(visits: World) -> None:
    ada, request = visits.person("ada"), sent(visits, b"body")
    begun = idempotency.open_request(visits.server, ada, "key", request)
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.finish(visits.server, begun, 201, b"answer")
    with visits.server.database.write() as session:
        row = session.exec(select(Idempotency)).one()
        assert row.answer is not None
        row.answer = altered(row.answer)
        session.add(row)
    with pytest.raises(IntegrityViolation, match="does not authenticate"):
        idempotency.open_request(visits.server, ada, "key", request)


def test_who_is_still_worked_for_is_told_to_wait_and_who_died_is_begun_anew(visits: World) -> None:
    ada, request = visits.person("ada"), sent(visits, b"body")
    assert isinstance(
        idempotency.open_request(visits.server, ada, "key", request), idempotency.OpenRequest
    )
    with pytest.raises(Conflict, match="still in progress"):
        idempotency.open_request(visits.server, ada, "key", request)
    visits.clock.now += idempotency.ABANDONED
    assert isinstance(
        idempotency.open_request(visits.server, ada, "key", request), idempotency.OpenRequest
    )


def test_a_request_that_was_refused_may_be_sent_again(visits: World) -> None:
    ada, request = visits.person("ada"), sent(visits, b"body")
    begun = idempotency.open_request(visits.server, ada, "key", request)
    assert isinstance(begun, idempotency.OpenRequest)
    idempotency.give_up(visits.server, begun)
    assert isinstance(
        idempotency.open_request(visits.server, ada, "key", request), idempotency.OpenRequest
    )


@pytest.mark.parametrize("key", ["", "k" * 256, "käse", "a\nb"])
def test_a_key_is_printable_and_not_too_long(visits: World, key: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 255 printable ASCII") as refusal:
        idempotency.open_request(visits.server, visits.person("ada"), key, sent(visits, b""))
    assert refusal.value.errors[0][0] == "/Idempotency-Key"


def test_parts_are_told_apart_from_what_they_come_to(visits: World) -> None:
    first = idempotency.fingerprint(visits.server, b"ab", b"c")
    assert first != idempotency.fingerprint(visits.server, b"a", b"bc")
    assert idempotency.is_same(idempotency.newest(first), first)
    assert not idempotency.is_same(idempotency.newest(first), sent(visits, b"ab"))
