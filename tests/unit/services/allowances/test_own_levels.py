"""Test the levels of a query under an allowance, and what each tier above pays."""

from types import SimpleNamespace

import pytest
from tests.unit.services.allowances.asking import request_of
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, Forbidden, InvalidInput
from penstock.persistence.tables import Dataset, Tier
from penstock.services.allowances import own_levels
from penstock.services.computations import computations
from penstock.services.ledger.charges import accounts_of
from penstock.services.queries.exact_answers import planned
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name


def named(world: World, name: str) -> tuple[Dataset, Tier]:
    with world.server.database.read() as session:
        return dataset_by_name(session, "stays"), tier_by_name(session, name)


@pytest.mark.parametrize("terms", [{}, {"tier": None, "share": 0.01}])
def test_every_tier_from_the_makers_up_pays_for_the_makers_level(
    stays: World, terms: dict[str, object]
) -> None:
    dataset, tier = named(stays, "partner")
    request = request_of("mine", **terms)  # type: ignore[arg-type]  # a tier and more
    with stays.server.database.read() as session:
        accounts = accounts_of(session, dataset)
    own = next(account for other, account in accounts if other.id == tier.id)
    assert own is not None
    quote = computations.quote_own(
        request, planned(dataset, request), accounts, dataset.delta, tier, own.account
    )
    by_tier = quote.quote.by_tier()
    assert [account.tier.name for account, _, _ in by_tier] == ["partner", "internal"]
    assert set(quote.quote.rungs) == {"partner", "internal"}
    assert len(set(quote.quote.rungs.values())) == 1
    assert quote.counted == by_tier[0][2], "the same account, the same price"
    assert all(cost.loss > 0 for _, _, cost in by_tier)


def test_a_level_elsewhere_is_refused_with_its_place(stays: World) -> None:
    _, tier = named(stays, "partner")
    own_levels.require_own_level(request_of("mine"), tier)
    own_levels.require_own_level(request_of("mine", "PARTNER"), tier)
    with pytest.raises(InvalidInput) as refusal:
        own_levels.require_own_level(request_of("mine", "public"), tier)
    assert [place for place, _ in refusal.value.errors] == ["/levels/public"]


def test_false_keys_of_other_tiers_are_refused(stays: World) -> None:
    _, tier = named(stays, "partner")

    terms = SimpleNamespace(false_keys={"public": 1.0})
    with pytest.raises(Forbidden, match="false keys at 'partner' alone"):
        own_levels.require_histogram_at(terms, tier)  # type: ignore[arg-type]  # what it reads


def test_a_refusal_above_says_nothing_of_it(stays: World) -> None:
    _, tier = named(stays, "partner")
    own = BudgetExhausted("No.", tier="partner", needed_share=2.0)
    plain = request_of("mine")
    assert own_levels.without_tiers_above(own, tier, plain) is own
    above = BudgetExhausted("No: internal has 0.1 left.", tier="internal", needed_share=2.0)
    told = own_levels.without_tiers_above(above, tier, plain)
    assert told.data == {}
    assert "internal" not in told.detail


def test_a_refusal_above_says_what_helps_of_what_was_sent(stays: World) -> None:
    _, tier = named(stays, "partner")
    above = BudgetExhausted("No.", tier="internal")
    plain = request_of("mine")
    for terms, ways in (
        (plain, "Take more noise, or ask"),
        (plain.model_copy(update={"max_levels": 3}), "Take more noise or a lower max_levels, or"),
    ):
        assert ways in own_levels.without_tiers_above(above, tier, terms).detail
