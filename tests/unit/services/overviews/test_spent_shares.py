"""Test which datasets are listed as the most spent."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.operations import key_rotation
from penstock.services.overviews import spent_shares
from penstock.services.schemas.queries import DatasetRequest


@pytest.fixture
def three(visits: World) -> World:
    """Return ``visits``, with two more datasets of which nothing is spent."""
    for name in ("beds", "staff"):
        spec = DatasetRequest.model_validate({**SITES, "name": name})
        datasets.register(visits.server, OPERATOR, spec)
    return visits


@pytest.mark.each_database
def test_the_most_spent_come_first_with_the_tier_that_spent_most(three: World) -> None:
    found = spent_shares.look(three.server, three.person("otto"))
    assert (found.datasets[0].dataset, found.looked_at, found.count) == ("sites", 3, 3)
    tiers = budgets.show(three.server, three.person("otto"), "sites").tiers
    largest = max(tiers, key=lambda tier: tier.spent_share)
    assert found.datasets[0].tier == largest.tier
    assert found.datasets[0].share == largest.spent_share
    assert [view.share for view in found.datasets[1:]] == [0, 0]
    assert {view.tier for view in found.datasets[1:]} == {"internal"}


def test_those_above_a_share_are_above_it(three: World) -> None:
    found = spent_shares.look(three.server, three.person("ada"))
    share = found.datasets[0].share
    assert [view.dataset for view in found.above(share * 0.99)] == ["sites"]
    assert found.above(share) == []


def test_the_newest_are_looked_at(three: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spent_shares, "LOOKED_AT", 2)
    found = spent_shares.look(three.server, three.person("ada"))
    assert {view.dataset for view in found.datasets} == {"beds", "staff"}
    assert (found.looked_at, found.count) == (2, 3)


def test_a_dataset_whose_keys_are_destroyed_is_left_out(three: World) -> None:
    key_rotation.shred(three.server, OPERATOR, "sites")
    found = spent_shares.look(three.server, three.person("ada"))
    assert ({view.dataset for view in found.datasets}, found.count) == ({"beds", "staff"}, 2)


def test_analysts_do_not_see_shares_of_all_tiers(three: World) -> None:
    with pytest.raises(Forbidden):
        spent_shares.look(three.server, three.person("ines"))
