"""Test the levels that tiers are allowed.

The newest version of each, never noisier as rank rises.
"""

import pytest
from sqlmodel import select
from tests.support.rows import row
from tests.unit.worlds import World

from penstock.errors import LevelsUsedUp
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Dataset, Leaf, Tier
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger.allowed_levels import allow, newest, require_levels, risen
from penstock.services.repository.people import ordered_tiers
from penstock.services.repository.queries import query_by_name

TIERS = [row(Tier, id=number, name=f"t{number}", rank=number) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({1: 9, 2: 5, 3: 2}, {1: 9, 2: 5, 3: 2}),
        ({1: 5, 2: 9}, {1: 5, 2: 5, 3: 5}),
        ({2: 4}, {2: 4, 3: 4}),
        ({}, {}),
    ],
)
def test_no_tier_is_allowed_less_than_those_below_it(
    own: dict[int, int], expected: dict[int, int]
) -> None:
    assert risen(TIERS, own) == expected


def test_only_a_level_that_is_new_is_a_version_and_a_leaf(visits: World) -> None:
    with visits.server.database.write() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        before = newest(session, [query])[required(query.id)]
        tier = required(ordered_tiers(session)[0].id)
        rungs = {**before, tier: before[tier] + 1}
        leaves = len(session.exec(select(Leaf)).all())
        allow(session, OPERATOR, dataset, query, rungs, visits.clock())
        assert newest(session, [query])[required(query.id)] == rungs
        assert len(session.exec(select(Leaf)).all()) == leaves + 1


def test_a_query_has_no_more_levels_than_it_was_charged_for(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        own = newest(session, [query])[required(query.id)]
        require_levels(session, query, own)
        many = {tier: query.ceiling + 1000 + tier for tier in range(query.max_levels)}
        with pytest.raises(LevelsUsedUp, match=f"was registered for {query.max_levels}"):
            require_levels(session, query, many)
