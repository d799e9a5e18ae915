"""Test a preview of a stream: what opening it then charges, and nothing is done."""

import pytest
from tests.unit.services.streams.streaming import CLICKS
from tests.unit.worlds import World

from penstock.errors import NameTaken
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, users
from penstock.services.previews.stream_preview import preview_stream
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams

REQUEST = StreamRequest.model_validate(CLICKS)


def test_levels_are_those_that_opening_settles(world: World) -> None:
    before = preview_stream(world.server, OPERATOR, REQUEST)
    assert streams.listing(world.server, OPERATOR, Window(limit=10)).items == []
    assert before.refusal is None
    shown = streams.open_stream(world.server, OPERATOR, REQUEST)
    assert [tier.level for tier in before.tiers] == [tier.level for tier in shown.tiers]
    assert before.structure == shown.structure
    with pytest.raises(NameTaken):
        preview_stream(world.server, OPERATOR, REQUEST)


def test_want_of_budget_is_stated_and_not_raised(world: World) -> None:
    dear = StreamRequest.model_validate({**CLICKS, "levels": {"public": {"epsilon": 50.0}}})
    assert "does not allow it" in str(preview_stream(world.server, OPERATOR, dear).refusal)


def test_one_structure_is_the_one_that_was_asked_for(world: World) -> None:
    found = preview_stream(world.server, OPERATOR, REQUEST)
    assert [one.chosen for one in found.structures].count(True) == 1


def test_an_analyst_is_told_of_tiers_up_to_their_own(world: World) -> None:
    found = preview_stream(world.server, world.person("pia"), REQUEST)
    assert [tier.tier for tier in found.tiers] == ["public"]


def test_a_refusal_names_no_query_that_the_analyst_does_not_see(visits: World) -> None:
    """A tier above a deleted one is charged for what that one saw, and does not see it."""
    visits.push("beds", levels={"internal": {"epsilon": 0.3}})
    users.change(visits.server, OPERATOR, "ines", UserChange(clearance="partner"))
    tier_changes.delete(visits.server, OPERATOR, "internal")
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="upper", above="partner"))
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="upper"))
    dear = StreamRequest.model_validate({**CLICKS, "levels": {"upper": {"epsilon": 50.0}}})
    told = str(preview_stream(visits.server, visits.person("pia"), dear).refusal)
    assert "Spent by: visits" in told
    assert "beds" not in told
    assert "beds" in str(preview_stream(visits.server, OPERATOR, dear).refusal)
