"""Test tiers as callers see them: in the order of their ranks, without those that were deleted."""

from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, tiers
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.views import TierView


def test_tiers_are_listed_by_rank_and_not_by_age(world: World) -> None:
    spec = TierSpec(name="lowest", rank=1, description="Everybody.")
    tier_changes.create(world.server, OPERATOR, spec)
    listed = tiers.listing(world.server)
    assert listed[0] == TierView(name="lowest", rank=1, description="Everybody.")
    assert [tier.name for tier in listed[1:]] == ["public", "partner", "internal"]
    assert [tier.rank for tier in listed] == sorted(tier.rank for tier in listed)


def test_a_deleted_tier_is_not_listed(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="brief", above="public"))
    assert "brief" in {tier.name for tier in tiers.listing(world.server)}
    tier_changes.delete(world.server, OPERATOR, "brief")
    assert "brief" not in {tier.name for tier in tiers.listing(world.server)}
