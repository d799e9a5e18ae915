"""Test what is read under a query's lock, and what may change while somebody waits for it."""

from collections.abc import Callable

import pytest
from sqlmodel import Session
from tests.unit.services.verification.tampered import alter
from tests.unit.worlds import World

from penstock.errors import (
    ClearanceTooLow,
    Conflict,
    DatabaseUnavailable,
    IntegrityViolation,
    NotFound,
)
from penstock.persistence import Database, lock_query
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.people import users
from penstock.services.queries import level_changes, queries
from penstock.services.releases import releases
from penstock.services.releases.allowed import AllowedRequest, read_without_lock
from penstock.services.releases.locked_state import LockedState, read_under_lock
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import LevelsChange, ReleaseRequest

pytestmark = pytest.mark.each_database

BETWEEN = 3000.0
"""A level of ``visits`` that no tier has."""


def demote(world: World) -> None:
    users.change(world.server, OPERATOR, "ines", UserChange(clearance="public"))


def take_clearance(world: World) -> None:
    users.change(world.server, OPERATOR, "ines", UserChange(clearance=None))


def lower(world: World) -> None:
    request = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.26}}})
    level_changes.change(world.server, OPERATOR, "visits", request)


def retire(world: World) -> None:
    queries.retire(world.server, OPERATOR, "visits")


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (demote, ClearanceTooLow),
        (take_clearance, NotFound),
        (lower, ClearanceTooLow),
        (retire, Conflict),
    ],
)
def test_what_is_taken_away_between_the_look_and_the_lock_is_refused(
    visits: World,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[World], None],
    refusal: type[Exception],
) -> None:
    def looked_up(*arguments: object) -> object:
        found = read_without_lock(*arguments)  # type: ignore[arg-type]  # passed through
        change(visits)
        return found

    visits.ask("ines", epsilon=0.3)
    monkeypatch.setattr(releases, "read_without_lock", looked_up)
    drawn = visits.streams.taken
    with pytest.raises(refusal):
        visits.ask("ines", epsilon=0.35)
    assert visits.streams.taken == drawn


def test_a_query_whose_number_of_releases_was_set_back_draws_nothing(visits: World) -> None:
    """Its kept row is genuine, and the one that is stored is not."""
    visits.ask("ines", epsilon=0.3)
    alter(visits, 'UPDATE "query" SET seq = seq - 1')
    drawn = visits.streams.taken
    with pytest.raises(IntegrityViolation, match="'visits' was altered"):
        visits.ask("ines", epsilon=0.35)
    assert visits.streams.taken == drawn


def read(world: World, session: Session, name: str) -> LockedState:
    principal, request = world.person(name), ReleaseRequest(level=BETWEEN)
    return read_under_lock(
        session, world.server, principal, "visits", request, allowed(world, principal)
    )[1]


def allowed(world: World, principal: Principal) -> AllowedRequest:
    request = ReleaseRequest(level=BETWEEN)
    return read_without_lock(world.server, principal, "visits", request)[0]


def test_a_level_that_others_were_given_is_read_by_whoever_has_room_for_it(world: World) -> None:
    world.push(max_levels=5)
    first = world.ask("ines", level=BETWEEN).view.id
    with world.server.database.write_beside() as session:
        state = read(world, session, "paul")
    assert state.stored is not None
    assert state.stored.public_id == first
    assert (state.received, state.accurate, state.noisy) == (None, None, None)
    assert state.count == 2


def test_without_room_nothing_is_read_that_others_were_given(world: World) -> None:
    """How long a refusal takes would tell otherwise that somebody was given the level."""
    world.push(max_levels=5)
    world.ask("ines", level=BETWEEN)
    world.ask("ines", level=4000.0)
    with world.server.database.write_beside() as session:
        state = read(world, session, "paul")
        own = read(world, session, "ines")
    assert (state.stored, state.accurate, state.noisy) == (None, None, None)
    assert state.room is not None
    assert state.room.others == 2
    assert own.received is not None, "who holds it needs no room"


def test_the_neighbors_are_read_if_the_level_is_not_stored(world: World) -> None:
    world.push(max_levels=9)
    for level in (2900.0, 2950.0, 3050.0, 3100.0):
        world.ask("ines", level=level)
    with world.server.database.write_beside() as session:
        state = read(world, session, "paul")
    assert state.stored is None
    assert state.accurate is not None
    assert state.noisy is not None
    kind = allowed(world, world.person("paul")).kind
    levels = [kind.level(state.accurate.rung).value, kind.level(state.noisy.rung).value]
    assert levels == pytest.approx([2950.0, 3050.0], rel=1e-3)
    assert [state.accurate.seq, state.noisy.seq] == [2, 3]


def test_the_query_is_locked_until_the_transaction_ends(visits: World) -> None:
    url = visits.server.settings.resolved_database_url
    other = Database(url, busy_timeout_seconds=0.02, info=visits.server.database._info)

    def lock() -> None:
        with other.write_beside() as waiting:
            lock_query(waiting, 1)

    with visits.server.database.write_beside() as session:
        read(visits, session, "ines")
        with pytest.raises(DatabaseUnavailable, match="locked"):
            lock()
    lock()
    other.close()
