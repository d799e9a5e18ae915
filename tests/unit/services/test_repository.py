"""Test rows by their names, whatever their case, and what a tier is allowed of a query now."""

import pytest
from tests.unit.worlds import World

from penstock.errors import NotFound
from penstock.services import repository
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries
from penstock.services.schemas.people import UserChange
from penstock.services.schemas.queries import LevelsChange


def allowed(world: World, name: str) -> int:
    with world.server.database.read() as session:
        query = repository.query_by_name(session, "visits")
        rung = repository.allowed_rung(session, query, repository.tier_by_name(session, name))
    assert rung is not None
    return rung


def test_names_are_found_in_any_case_and_missing_ones_are_told(visits: World) -> None:
    with visits.server.database.read() as session:
        assert repository.tier_by_name(session, "PUBLIC").name == "public"
        assert repository.user_by_name(session, "Pia").name == "pia"
        assert repository.dataset_by_name(session, "Sites").name == "sites"
        assert repository.query_by_name(session, "Visits").name == "visits"
        for find in (
            repository.tier_by_name,
            repository.user_by_name,
            repository.dataset_by_name,
            repository.query_by_name,
            repository.stream_by_name,
        ):
            with pytest.raises(NotFound, match="'nothing'"):
                find(session, "nothing")


def test_a_query_is_no_stream(visits: World) -> None:
    with visits.server.database.read() as session:
        with pytest.raises(NotFound, match="no stream 'visits'"):
            repository.stream_by_name(session, "visits")
        assert not repository.is_stream(repository.query_by_name(session, "visits"))


def test_the_newest_clearance_counts(visits: World) -> None:
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance=None))
    with visits.server.database.read() as session:
        held = repository.holding(session)
        pia, paul = (repository.user_by_name(session, name).id or 0 for name in ("pia", "paul"))
        internal = repository.tier_by_name(session, "internal")
        assert (held[pia], held[paul]) == (internal.id, None)
        assert repository.clearance_of(session, pia) == internal
        assert repository.clearance_of(session, paul) is None


def test_a_tier_is_allowed_the_best_level_of_those_at_or_below_it(visits: World) -> None:
    with visits.server.database.read() as session:
        query = repository.query_by_name(session, "visits")
        tiers = repository.ordered_tiers(session)
        rungs = [rung for _, rung in repository.allowed_rungs(session, query, tiers)]
        assert None not in rungs
        assert rungs == sorted(rungs, key=lambda rung: -(rung or 0))
        assert [repository.allowed_rung(session, query, tier) for tier in tiers] == rungs
        assert [
            repository.all_allowed_rungs(session, tier)[query.id or 0] for tier in tiers
        ] == rungs


def test_lowering_a_level_acts_at_once(visits: World) -> None:
    before = allowed(visits, "internal")
    change = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.25}}})
    queries.change(visits.server, OPERATOR, "visits", change)
    assert before < allowed(visits, "internal") == allowed(visits, "partner")


def test_a_deleted_tier_is_not_found(world: World) -> None:
    users.change(world.server, OPERATOR, "pia", UserChange(clearance=None))
    tier_changes.delete(world.server, OPERATOR, "public")
    with world.server.database.read() as session:
        assert "public" not in {tier.name for tier in repository.ordered_tiers(session)}
        with pytest.raises(NotFound):
            repository.tier_by_name(session, "public")
