"""Test what a query would be and what each tier would be charged, from its spec alone."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.accounting import share_of
from penstock.accounting.charging.budget import account_of
from penstock.errors import InvalidInput
from penstock.persistence.tables import Dataset
from penstock.services.ledger import quotes
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


def terms_of(quote: Quote) -> object:
    """Return all of a quote but the rows of its tiers, which each reading makes anew."""
    charges = [(account.tier.name, rung, cost) for account, rung, cost in quote.charges]
    return quote.process, quote.rungs, charges


@pytest.mark.parametrize(
    "changes",
    [
        {"levels": {"public": {"epsilon": 0.125}}},
        {"levels": {"partner": {"epsilon": 0.25}}},
        {"levels": {"public": {"half_width": 50.0, "confidence": 0.9}}},
        {"levels": {"public": {"half_width": 50.0, "confidence": 0.99}}},
        {"levels": None, "share": 0.5},
        {"mechanism": "laplace", "levels": {"public": {"epsilon": 0.125}}},
        {"mechanism": "generalized_gaussian", "p": 4, "levels": {"public": {"epsilon": 0.125}}},
        {"max_levels": 7},
        {"sensitivity": {"l1": 2, "l2": 1, "linf": 1}},
        {"sensitivity": {"l1": 2, "l2": 2, "linf": 1}},
        {"sensitivity": {"l1": 2, "l2": 2, "linf": 2}},
        {"bound": 10**7},
        {"values": [1, 2, 3, 4], "keys": ["a", "b", "c", "d"]},
    ],
)
def test_a_quote_is_kept_and_is_that_of_its_own_inputs(
    world: World, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    monkeypatch.setattr(quotes, "_KEPT", {})
    fresh = settled(world, **changes)
    monkeypatch.setattr(quotes, "_KEPT", {})
    # Beside the others, so that one that is mistaken for another is not the fresh one.
    settled(world)
    settled(world, sensitivity={"l1": 3, "l2": 3, "linf": 3})
    first = settled(world, **changes)
    again = settled(world, **changes)
    assert terms_of(first) == terms_of(again) == terms_of(fresh)
    assert again.process is first.process, "it was not kept"
    assert len(quotes._KEPT) == 3


def test_a_quote_is_made_again_for_another_budget(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = PushedVectorRequest.model_validate(VISITS)
    with world.server.database.read() as session:
        dataset = dataset_by_name(session, "sites")
        accounts = accounts_of(session, dataset)
        prepared = planned(dataset, request)
    other = [(tier, own and replace(own, account=account_of(9.0, 1e-7))) for tier, own in accounts]
    monkeypatch.setattr(quotes, "_KEPT", {})
    fresh = calibrate_and_price(request, prepared, other, dataset.delta)
    monkeypatch.setattr(quotes, "_KEPT", {})
    before = calibrate_and_price(request, prepared, accounts, dataset.delta)
    after = calibrate_and_price(request, prepared, other, dataset.delta)
    assert terms_of(after) == terms_of(fresh)
    assert terms_of(after) != terms_of(before)
    assert [account for account, _, _ in after.charges] == [own for _, own in other]


def test_few_quotes_are_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotes, "_KEPT", {})
    monkeypatch.setattr(quotes, "MOST_KEPT", 2)
    for epsilon in (0.1, 0.2, 0.3):
        settled(world, levels={"public": {"epsilon": epsilon}})
    assert len(quotes._KEPT) == 1


def test_quotes_for_those_who_do_not_see_all_tiers_are_not_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotes, "_KEPT", {})
    request = PushedVectorRequest.model_validate(VISITS)
    with world.server.database.read() as session:
        dataset = dataset_by_name(session, "sites")
        accounts = accounts_of(session, dataset)
        limit = accounts[-1][0]
        calibrate_and_price(request, planned(dataset, request), accounts, dataset.delta, limit)
    assert quotes._KEPT == {}
