"""Test what a tier is allowed of a query now."""

from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries
from penstock.services.repository.levels import all_allowed_rungs, allowed_rung, allowed_rungs
from penstock.services.repository.people import ordered_tiers, tier_by_name
from penstock.services.repository.queries import query_by_name
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import LevelsChange


def allowed(world: World, name: str) -> int:
    with world.server.database.read() as session:
        query = query_by_name(session, "visits")
        rung = allowed_rung(session, query, tier_by_name(session, name))
    assert rung is not None
    return rung


def test_a_tier_is_allowed_the_best_level_of_those_at_or_below_it(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        tiers = ordered_tiers(session)
        rungs = [rung for _, rung in allowed_rungs(session, query, tiers)]
        assert None not in rungs
        assert rungs == sorted(rungs, key=lambda rung: -(rung or 0))
        assert [allowed_rung(session, query, tier) for tier in tiers] == rungs
        assert [all_allowed_rungs(session, tier)[query.id or 0] for tier in tiers] == rungs


def test_lowering_a_level_acts_at_once(visits: World) -> None:
    before = allowed(visits, "internal")
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.25}}})
    queries.change(visits.server, OPERATOR, "visits", change)
    assert before < allowed(visits, "internal") == allowed(visits, "partner")


def test_the_level_of_a_deleted_tier_is_allowed_to_nobody_above_it(visits: World) -> None:
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance=None))
    partner = allowed(visits, "partner")
    tier_changes.delete(visits.server, OPERATOR, "partner")
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.12}}})
    queries.change(visits.server, OPERATOR, "visits", change)
    internal = allowed(visits, "internal")
    assert partner < internal  # a smaller rung is more accurate
    with visits.server.database.read() as session:
        query, tier = query_by_name(session, "visits"), tier_by_name(session, "internal")
        assert all_allowed_rungs(session, tier)[query.id or 0] == internal
