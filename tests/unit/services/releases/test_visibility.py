"""Test which queries somebody may see, and that a retired one gives nothing more."""

from dataclasses import replace

import pytest
from tests.unit.worlds import World

from penstock.errors import ApprovalNeeded, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.releases.visibility import end, end_alone, levels_of, spec_of, visible
from penstock.services.repository.people import tier_by_name
from penstock.services.repository.queries import query_by_name


def test_a_query_for_higher_tiers_is_as_missing_as_one_that_is_not_there(world: World) -> None:
    world.push("secret", levels={"internal": {"epsilon": 0.5}})
    with world.server.database.read() as session:
        assert visible(session, world.person("ines"), "secret", stream=False)[0].name == "secret"
        told = set()
        for name in ("secret", "absent"):
            with pytest.raises(NotFound) as problem:
                visible(session, world.person("pia"), name, stream=False)
            told.add(problem.value.detail.replace(name, "NAME"))
        assert len(told) == 1
        with pytest.raises(NotFound, match="no stream"):
            visible(session, OPERATOR, "secret", stream=True)


def test_tiers_up_to_a_limit_are_told_and_none_above(visits: World) -> None:
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        partner = tier_by_name(session, "partner")
        shown = [tier.name for tier, _ in levels_of(session, query, partner)]
        assert shown == ["public", "partner"]
        assert "levels" in spec_of(query, None)
        assert "levels" not in spec_of(query, partner)


def test_a_query_is_retired_once_and_for_good(visits: World) -> None:
    with visits.server.database.write() as session:
        query = query_by_name(session, "visits")
        end(session, visits.server, OPERATOR, query)
        end_alone(session, visits.server, OPERATOR, query)
        assert query.status == "retired"


def test_two_persons_retire_where_the_rule_says_so(visits: World) -> None:
    settings = visits.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(visits.server, settings=settings)
    with ruled.database.read() as session, pytest.raises(ApprovalNeeded):
        end_alone(session, ruled, OPERATOR, query_by_name(session, "visits"))
