"""Test that it is noticed when any leaf about a tier is gone from the log.

The leaf of a tier that was moved stands for those before it.
"""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes
from penstock.services.people.logged_tiers import LoggedTiers
from penstock.services.schemas.people.tiers import TierChange, TierSpec


def test_each_creation_and_deletion_is_missed(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="brief", above="public"))
    tier_changes.delete(world.server, OPERATOR, "brief")
    # Its deletion takes away whatever its creation put there.
    (creation,) = [leaf for leaf in logged.unmissed(world, LoggedTiers) if leaf["kind"] == "tier"]
    assert (creation["tier"], "rank" in creation) == ("brief", True)


def test_the_newest_rank_counts(world: World) -> None:
    tier_changes.change(world.server, OPERATOR, "public", TierChange(rank=15))
    whole = logged.leaves(world)
    assert logged.differences(world, LoggedTiers, whole) == []
    older = [leaf for leaf in whole if leaf.get("rank") != 15]
    assert logged.differences(world, LoggedTiers, older) == ["the tiers are not those of the log"]
