"""Test queries as their callers see them: shown up to one's own tier, listed, and retired."""

import pytest
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.queries import queries


def test_a_registration_shows_what_a_later_look_shows(visits: World) -> None:
    shown = visits.push("other")
    assert shown == queries.show(visits.server, OPERATOR, "other")
    assert [tier.tier for tier in shown.tiers] == ["public", "partner", "internal"]


def test_an_analyst_sees_tiers_up_to_their_own(visits: World) -> None:
    shown = queries.show(visits.server, visits.person("paul"), "visits")
    assert [tier.tier for tier in shown.tiers] == ["public", "partner"]
    assert "levels" not in shown.spec
    assert all(tier.composed is None for tier in shown.tiers)


def test_a_listing_has_what_may_be_seen(visits: World) -> None:
    visits.push("secret", levels={"internal": {"epsilon": 0.25}})
    for name, expected in (("pia", ["visits"]), ("ines", ["visits", "secret"])):
        page = queries.listing(visits.server, visits.person(name), Window(limit=10))
        assert [query.name for query in page.items] == expected


def test_only_admins_retire_and_a_retired_query_gives_nothing_new(visits: World) -> None:
    with pytest.raises(Forbidden):
        queries.retire(visits.server, visits.person("ines"), "visits")
    assert queries.retire(visits.server, OPERATOR, "visits").status == "retired"
    with pytest.raises(Conflict):
        visits.ask("ines")
    with pytest.raises(NotFound):
        queries.retire(visits.server, OPERATOR, "absent")
