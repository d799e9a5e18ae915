"""Test numbers of rows before the rows are stored: new ones, and none that was ever taken."""

import pytest
from tests.unit.worlds import World

from penstock.persistence.row_numbers import required, take
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes
from penstock.services.schemas.people.tiers import TierSpec

pytestmark = pytest.mark.each_database


def test_numbers_are_those_of_the_rows_that_come_next(world: World) -> None:
    with world.server.database.write() as session:
        numbers = take(session.connection(), "tier", 3)
        stored = list(session.connection().exec_driver_sql("SELECT max(id) FROM tier").scalars())
    assert len(set(numbers)) == 3
    assert numbers == sorted(numbers)
    assert min(numbers) > stored[0]


def test_a_number_of_a_deleted_row_is_not_taken_again(world: World) -> None:
    with world.server.database.write() as session:
        first = take(session.connection(), "tier", 1)[0]
    tier_changes.create(world.server, OPERATOR, TierSpec(name="brief", above="public"))
    tier_changes.delete(world.server, OPERATOR, "brief")
    with world.server.database.write() as session:
        assert take(session.connection(), "tier", 1)[0] > first


def test_a_row_that_is_not_stored_has_no_number() -> None:
    assert required(7) == 7
    with pytest.raises(RuntimeError, match="before it was stored"):
        required(None)
