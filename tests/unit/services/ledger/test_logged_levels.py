"""Test that a missing leaf of a level is reported, whichever it is."""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services.ledger.logged_levels import LoggedLevels


def test_every_tier_s_level(world: World) -> None:
    world.push()
    whole = logged.leaves(world)
    levels = [leaf for leaf in whole if leaf["kind"] == "level"]
    assert len(levels) > 1
    assert not [leaf for leaf in logged.unmissed(world, LoggedLevels) if leaf in levels]


def test_levels_of_another_query_are_told(world: World) -> None:
    world.push()
    renamed = [
        {**leaf, "query": "other"} if leaf["kind"] == "level" else leaf
        for leaf in logged.leaves(world)
    ]
    assert logged.differences(world, LoggedLevels, renamed) == [
        "the levels are not those of the log"
    ]
