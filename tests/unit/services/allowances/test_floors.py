"""Test that no tier below an analyst's ever sees what they asked, whatever an admin does."""

import pytest
from tests.unit.services.allowances.asking import ask, give
from tests.unit.worlds import World

from penstock.errors import Conflict, NotFound
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.previews import level_preview
from penstock.services.queries import queries
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import LevelsChange
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.each_database

PUBLIC = LevelsChange.model_validate({"levels": {"public": {"epsilon": 0.1}}})


@pytest.fixture
def asked(stays: World) -> World:
    """Return the world with a query of an analyst of the middle tier."""
    give(stays)
    ask(stays, "paul", "mine")
    return stays


def hidden_from(world: World, who: str) -> bool:
    try:
        queries.show(world.server, world.person(who), "mine@partner")
    except NotFound:
        return True
    return False


def move(world: World, who: str, tier: str) -> None:
    users.change(world.server, OPERATOR, who, UserChange(clearance=tier))


def test_an_admin_cannot_give_it_a_level_below_and_is_told_why(asked: World) -> None:
    with pytest.raises(Conflict, match="may tell what they had read"):
        queries.change(asked.server, OPERATOR, "mine", PUBLIC)
    with pytest.raises(Conflict, match="never visible below"):
        level_preview.preview(asked.server, OPERATOR, "mine@partner", PUBLIC.levels)
    assert hidden_from(asked, "pia")
    above = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.3}}})
    for name in ("mine", "mine@partner"):
        seen = level_preview.preview(asked.server, OPERATOR, name, above.levels)
        assert (seen.query, seen.refusal, seen.changes) == ("mine", None, True)


def test_a_tier_that_is_inserted_below_does_not_see_it_and_one_above_does(asked: World) -> None:
    for name, above in (("lower", "public"), ("upper", "partner")):
        tier_changes.create(asked.server, OPERATOR, TierSpec(name=name, above=above))
    move(asked, "pia", "lower")
    assert hidden_from(asked, "pia")
    move(asked, "pia", "upper")
    assert not hidden_from(asked, "pia")
    assert verify(asked.server, OPERATOR).problems == []


def test_no_tier_that_sees_it_moves_below_its_floor(asked: World) -> None:
    tier_changes.create(asked.server, OPERATOR, TierSpec(name="upper", rank=24))
    for name, change in (("upper", TierChange(rank=15)), ("partner", TierChange(rank=26))):
        with pytest.raises(Conflict, match="no tier below theirs may see it"):
            tier_changes.change(asked.server, OPERATOR, name, change)
    assert not hidden_from(asked, "ines")


def test_a_deleted_tier_stays_the_floor(asked: World) -> None:
    move(asked, "paul", "public")
    tier_changes.delete(asked.server, OPERATOR, "partner")
    assert hidden_from(asked, "paul")
    assert not hidden_from(asked, "ines")
    with pytest.raises(Conflict, match="never visible below"):
        queries.change(asked.server, OPERATOR, "mine@partner", PUBLIC)
    tier_changes.create(asked.server, OPERATOR, TierSpec(name="partner", above="public"))
    move(asked, "paul", "partner")
    assert hidden_from(asked, "paul"), "a name alone is not the tier"
    assert verify(asked.server, OPERATOR).problems == []


def test_no_tier_that_pays_for_it_moves_below_a_floor_that_was_deleted(stays: World) -> None:
    """Its budget has the charge, but not the name of a query that it does not see."""
    give(stays, "internal")
    ask(stays, "ines", "mine", "internal")
    move(stays, "ines", "partner")
    tier_changes.delete(stays.server, OPERATOR, "internal")
    tier_changes.create(stays.server, OPERATOR, TierSpec(name="upper", above="partner"))
    move(stays, "pia", "upper")
    (told,) = budgets.show(stays.server, stays.person("pia"), "stays").tiers
    assert "mine" not in repr(told)
    assert told.spent_share > sum(query.share for query in told.queries)
    assert "mine@internal" in repr(budgets.show(stays.server, stays.person("ada"), "stays"))
    with pytest.raises(Conflict, match="sees or pays for it"):
        tier_changes.change(stays.server, OPERATOR, "upper", TierChange(rank=25))
