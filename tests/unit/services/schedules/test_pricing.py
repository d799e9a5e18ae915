"""Test the price of an occurrence: each query after those before it, and nothing is stored."""

from pathlib import Path

import pytest
from tests.unit.services.schedules.planning import spec_of, with_stays
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets.datasets import declared_next
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules.pricing import TierPrice, priced
from penstock.services.schedules.templates import requests_of
from penstock.services.schemas.schedules import ScheduleSpec


def price(world: World, spec: ScheduleSpec) -> list[TierPrice]:
    requests = requests_of(spec, world.clock())
    with world.server.database.read() as session:
        before = dataset_by_name(session, "stays")
    declared = declared_next(before, requests.version)
    return priced(world.server, OPERATOR, declared, requests)


def test_shares_of_equal_queries_are_equal_until_the_budget_ends(
    world: World, tmp_path: Path
) -> None:
    with_stays(world, tmp_path)
    (query,) = spec_of(tmp_path).queries
    some = [{**query, "name": f"{number}-{{date}}"} for number in range(6)]
    (first, *_) = price(world, spec_of(tmp_path, queries=some[:1]))
    assert first.tier == "public"
    assert 0 < first.shares[0] < 1
    fitting = int(1 / max(each.shares[0] for each in price(world, spec_of(tmp_path))))
    several = price(world, spec_of(tmp_path, queries=some[:fitting]))
    assert [len(each.shares) for each in several] == [fitting] * 3
    assert all(len(set(each.shares)) == 1 for each in several)
    with pytest.raises(BudgetExhausted, match="after the queries before it"):
        price(world, spec_of(tmp_path, queries=some[: fitting + 1]))
