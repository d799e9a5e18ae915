"""Test which charges to an account are read, and for whom."""

import pytest
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.queries import queries
from penstock.services.repository.charges import Charged, charges_in_sight, charges_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.queries import LevelsChange


def charges(world: World, tier: str, limit: str | None = None) -> list[Charged]:
    """Return the charges to a tier's account that the holders of ``limit`` see."""
    with world.server.database.read() as session:
        key = dataset_by_name(session, "sites").id or 0
        seen_by = None if limit is None else tier_by_name(session, limit)
        return list(charges_in_sight(session, key, tier_by_name(session, tier), seen_by))


@pytest.mark.each_database
def test_charges_come_in_their_order_with_the_total_after_each(visits: World) -> None:
    visits.clock.forward(days=1)
    change = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.25}}})
    queries.change(visits.server, OPERATOR, "visits", change)
    first, second = charges(visits, "public", "public")
    assert (first.query, second.query) == ("visits", "visits")
    assert (first.total, second.total) == (first.loss, first.loss + second.loss)
    assert (second.at - first.at).days == 1


def test_a_charge_for_what_a_tier_cannot_see_is_left_out_for_it(visits: World) -> None:
    visits.push("beds", levels={"internal": {"epsilon": 0.3}})
    assert [charge.query for charge in charges(visits, "internal")] == ["visits", "beds"]
    assert [charge.query for charge in charges(visits, "internal", "internal")][1:] == ["beds"]
    assert [charge.query for charge in charges(visits, "internal", "partner")] == ["visits"]


def test_all_charges_of_a_dataset_come_with_what_they_are_for(visits: World) -> None:
    visits.push("beds", levels={"internal": {"epsilon": 0.3}})
    with visits.server.database.read() as session:
        key = dataset_by_name(session, "sites").id or 0
        internal = tier_by_name(session, "internal").id
        paid = list(charges_of(session, [key]))
        assert list(charges_of(session, [key + 1])) == []
    assert {each.dataset for each in paid} == {key}
    assert len(paid) == 4
    own = [each.loss for each in paid if each.tier == internal]
    assert own == [charge.loss for charge in charges(visits, "internal")]
    assert len({each.query for each in paid}) == 2
