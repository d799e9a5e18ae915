"""Test that a row that is made without its constructor is as one that is made with it."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import inspect
from tests.support.rows import columns_of, row
from tests.unit.worlds import World

from penstock.persistence.row_authentication import store_new
from penstock.persistence.statements.entities import made
from penstock.persistence.tables.people import Tier

COLUMNS = {
    "name": "Guests",
    "folded": "guests",
    "rank": 7,
    "created_at": datetime(2026, 1, 1, tzinfo=UTC),
}


def test_it_has_the_columns_and_defaults_of_its_class() -> None:
    tier = made(Tier, COLUMNS)
    assert columns_of(tier) == columns_of(row(Tier, **COLUMNS))
    assert inspect(tier).transient
    assert made(Tier, {**COLUMNS, "description": "all"}).description == "all"


@pytest.mark.parametrize("columns", [{**COLUMNS, "color": "red"}, {"name": "Guests"}])
def test_columns_that_are_missing_or_unknown_are_refused(columns: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="missing or unknown"):
        made(Tier, columns)


@pytest.mark.each_database
def test_it_is_stored_and_changed_like_any_other(world: World) -> None:
    with world.server.database.write() as session:
        tier = made(Tier, COLUMNS)
        store_new(session, tier)
        tier.description = "changed"
        session.add(tier)
        number = tier.id
    with world.server.database.read() as session:
        stored = session.get_one(Tier, number)
        assert (stored.name, stored.rank, stored.description) == ("Guests", 7, "changed")
