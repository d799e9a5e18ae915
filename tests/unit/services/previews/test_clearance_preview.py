"""Test what a move would mean, held to what it then means."""

import pytest
from sqlmodel import func, select
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput
from penstock.persistence.tables import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.exposure import exposure
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.previews import clearance_preview
from penstock.services.queries import queries
from penstock.services.schemas.people.users import UserChange

TIERS = ("public", "partner", "internal", None)


def move(world: World, name: str, tier: str | None) -> None:
    users.change(world.server, OPERATOR, name, UserChange(clearance=tier))


def in_sight(world: World, name: str) -> dict[str, float]:
    """Return the epsilon of the best level of each query that somebody may ask for."""
    listed = queries.listing(world.server, world.person(name), Window()).items
    return {one.name: one.tiers[-1].guarantee.epsilon for one in listed}


@pytest.mark.parametrize("source", TIERS)
@pytest.mark.parametrize("target", TIERS)
def test_what_is_foreseen_is_what_is_then_in_sight_and_within_reach(
    visits: World, source: str | None, target: str | None
) -> None:
    visits.push("shifts", values=[1, 2, 3], levels={"internal": {"epsilon": 0.3}})
    move(visits, "pia", source)
    before = in_sight(visits, "pia")
    foreseen = clearance_preview.preview(visits.server, OPERATOR, "pia", target)
    assert (foreseen.source, foreseen.target) == (source, target)
    assert {sight.query: sight.before.epsilon for sight in foreseen.sights if sight.before} == {
        name: epsilon
        for name, epsilon in before.items()
        if name in {sight.query for sight in foreseen.sights}
    }
    move(visits, "pia", target)
    after = in_sight(visits, "pia")
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert {sight.query for sight in foreseen.sights} == changed
    for sight in foreseen.sights:
        assert (sight.after.epsilon if sight.after else None) == after.get(sight.query)
    reached = exposure.of(visits.server, OPERATOR, ["pia"], "sites").reach
    assert [one.after for one in foreseen.farther] == [reached]


def test_foreseeing_changes_nothing(visits: World) -> None:
    def written() -> object:
        with visits.server.database.read() as session:
            return session.exec(select(func.count()).select_from(Leaf)).one()

    before, drawn = written(), visits.streams.taken
    for tier in TIERS:
        clearance_preview.preview(visits.server, OPERATOR, "pia", tier)
    clearance_preview.ladder(visits.server, OPERATOR)
    assert (written(), visits.streams.taken) == (before, drawn)


def test_a_move_up_takes_along_those_who_reach_less_and_nobody_else(visits: World) -> None:
    up = clearance_preview.preview(visits.server, OPERATOR, "pia", "internal")
    assert (up.peers, up.nearer, up.upward) == (["ines"], ["paul"], True)
    reaches = [(one.before, one.after) for one in up.farther]
    assert [(was.epsilon, will.epsilon) for was, will in reaches if was and will] == [(1.0, 4.0)]


def test_a_move_down_takes_nothing_back(visits: World) -> None:
    move(visits, "pia", "internal")
    down = clearance_preview.preview(visits.server, OPERATOR, "pia", "public")
    assert (down.highest_before, down.highest, down.upward) == ("internal", "internal", False)
    assert [one.before for one in down.farther] == [one.after for one in down.farther]
    move(visits, "pia", None)
    assert clearance_preview.preview(visits.server, OPERATOR, "pia", None).highest == "internal"
    # Paul could pool with her still, and she with paul no farther than she got by herself.
    assert clearance_preview.preview(visits.server, OPERATOR, "paul", "internal").nearer == []


def test_who_is_shut_out_stands_on_no_rung(visits: World) -> None:
    users.disable(visits.server, OPERATOR, "paul")
    move(visits, "pia", None)
    found = clearance_preview.ladder(visits.server, OPERATOR)
    assert [(tier.name, tier.people, tier.shut_out) for tier in found.tiers] == [
        ("public", [], 0),
        ("partner", [], 1),
        ("internal", ["ines"], 0),
    ]
    assert found.without == ["pia"]


def test_what_is_retired_is_given_to_nobody_at_any_tier(visits: World) -> None:
    queries.retire(visits.server, OPERATOR, "visits")
    foreseen = clearance_preview.preview(visits.server, OPERATOR, "pia", "internal")
    assert (foreseen.sights, foreseen.unchanged) == ([], 0)


def test_only_admins_look_and_what_is_not_there_is_named(visits: World) -> None:
    for name in ("pia", "otto"):
        with pytest.raises(Forbidden):
            clearance_preview.ladder(visits.server, visits.person(name))
        with pytest.raises(Forbidden):
            clearance_preview.preview(visits.server, visits.person(name), "pia", "public")
    for user, tier, place in (("zoe", "public", "/user"), ("pia", "top", "/tier")):
        with pytest.raises(InvalidInput) as refused:
            clearance_preview.preview(visits.server, OPERATOR, user, tier)
        assert refused.value.errors[0][0] == place
