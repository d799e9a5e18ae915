"""Test what a query would be and what each tier would be charged, from its spec alone."""

from typing import Any

import pytest
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.accounting import share_of
from penstock.errors import InvalidInput
from penstock.persistence.tables import Dataset
from penstock.services.ledger.charges import accounts_of
from penstock.services.ledger.quotes import Quote, calibrate_and_price, require_tiers
from penstock.services.queries.exact_answers import planned
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.queries import PushedVectorRequest


def settled(world: World, **changes: Any) -> Quote:
    request = PushedVectorRequest.model_validate({**VISITS, **changes})
    with world.server.database.read() as session:
        dataset: Dataset = dataset_by_name(session, "sites")
        accounts = accounts_of(session, dataset)
        require_tiers(request, accounts)
        return calibrate_and_price(request, planned(dataset, request), accounts, dataset.delta)


def test_levels_are_kept_and_never_noisier_as_rank_rises(world: World) -> None:
    quote = settled(world)
    public, partner, internal = (quote.rungs[name] for name in ("public", "partner", "internal"))
    assert public > partner > internal == quote.ceiling
    epsilon = quote.process.guarantee(partner, 1e-6).epsilon
    assert epsilon <= 0.25 < quote.process.guarantee(partner - 1, 1e-6).epsilon


def test_a_tier_above_a_listed_one_has_its_level_and_one_below_has_none(world: World) -> None:
    quote = settled(world, levels={"partner": {"epsilon": 0.25}})
    assert set(quote.rungs) == {"partner", "internal"}
    assert len(set(quote.rungs.values())) == 1
    assert [account.tier.name for account, _, _ in quote.by_tier()] == ["partner", "internal"]


def test_a_share_takes_that_part_of_every_budget(world: World) -> None:
    quote = settled(world, levels=None, share=0.5)
    for account, _, cost in quote.by_tier():
        assert 0 < cost.loss <= share_of(account.account, 0.5).loss
    assert list(quote.rungs) == ["public", "partner", "internal"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"levels": {"moon": {"epsilon": 1}}}, "no tier 'moon'"),
        (
            {"levels": {"public": {"epsilon": 0.5}, "partner": {"epsilon": 0.1}}},
            "noisier than that of the less trusted 'public'",
        ),
        ({"max_levels": 2}, "have 3 levels, more than max_levels, 2"),
    ],
)
def test_what_cannot_be_meant_is_refused(world: World, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        settled(world, **changes)
