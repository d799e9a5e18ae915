"""Test what other levels would mean, held to what moving them then does."""

from typing import Any

import pytest
from sqlmodel import col, func, select
from tests.unit.worlds import World
from tests.web.world import STREAM

from penstock.errors import BudgetExhausted, Conflict, Forbidden, InvalidInput
from penstock.persistence.tables import Charge, Leaf, Tier
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tier_changes, users
from penstock.services.previews import level_preview
from penstock.services.previews.level_preview import MovedLevelsView
from penstock.services.queries import queries
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    LevelsChange,
)
from penstock.services.schemas.streams import StreamChange, StreamRequest
from penstock.services.streams import streams


def preview(world: World, name: str = "visits", /, **levels: Any) -> MovedLevelsView:
    stream = name == "arrivals"
    wanted = LevelsChange.model_validate({"levels": levels}).levels
    return level_preview.preview(world.server, OPERATOR, name, wanted, stream=stream)


def move(world: World, name: str = "visits", /, **levels: Any) -> None:
    if name == "arrivals":
        change = StreamChange.model_validate({"levels": levels})
        streams.change(world.server, OPERATOR, name, change)
    else:
        queries.change(
            world.server, OPERATOR, name, LevelsChange.model_validate({"levels": levels})
        )


def charged(world: World) -> dict[str, int]:
    """Return what every tier was charged in all, in units of the ledger."""
    with world.server.database.read() as session:
        rows = session.exec(
            select(Tier.name, func.sum(col(Charge.loss)))
            .join(Charge, col(Charge.tier_id) == col(Tier.id))
            .group_by(col(Tier.name))
        ).all()
        return {name: int(loss) for name, loss in rows}


@pytest.mark.parametrize("name", ["visits", "arrivals"])
@pytest.mark.parametrize(
    "levels",
    [
        {"internal": {"epsilon": 0.3}},
        {"public": {"epsilon": 0.22}, "partner": {"epsilon": 0.25}},
        {"public": {"epsilon": 0.3}, "partner": {"epsilon": 0.35}},
        {"partner": {"epsilon": 0.4}},
    ],
)
def test_what_is_foreseen_is_what_is_then_seen_and_charged(
    visits: World, name: str, levels: dict[str, Any]
) -> None:
    streams.open_stream(visits.server, OPERATOR, StreamRequest.model_validate(STREAM))
    show = streams.show if name == "arrivals" else queries.show

    def seen() -> dict[str, object]:
        tiers_now = show(visits.server, OPERATOR, name).tiers
        return {one.tier: (one.level, one.guarantee, one.error) for one in tiers_now}

    foreseen, was, before = preview(visits, name, **levels), seen(), charged(visits)
    assert foreseen.changes
    assert {
        one.tier: (one.before.level, one.before.guarantee, one.before.error)
        for one in foreseen.tiers
        if one.before
    } == was
    move(visits, name, **levels)
    assert {
        one.tier: (one.after.level, one.after.guarantee, one.after.error)
        for one in foreseen.tiers
        if one.after
    } == seen()
    after = charged(visits)
    paid = {tier: after[tier] - before[tier] for tier in after if after[tier] != before[tier]}
    assert {one.tier for one in foreseen.tiers if one.charge} == set(paid)
    for one in foreseen.tiers:
        if one.charge:
            assert one.charge.loss == pytest.approx(paid[one.tier] * 2.0**-40)
    assert not preview(visits, name, **levels).changes


def test_foreseeing_changes_and_draws_nothing(visits: World) -> None:
    def written() -> object:
        with visits.server.database.read() as session:
            rows = session.exec(select(func.count()).select_from(Leaf)).one()
        return rows, charged(visits)

    before, drawn = written(), visits.streams.taken
    for levels in ({"internal": {"epsilon": 0.9}}, {"public": {"epsilon": 0.2}}):
        preview(visits, **levels)
    assert (written(), visits.streams.taken) == (before, drawn)


def test_what_is_too_little_is_said_in_the_words_of_the_refusal(visits: World) -> None:
    levels = {"public": {"epsilon": 3}, "partner": {"epsilon": 3}, "internal": {"epsilon": 3}}
    visits.push("shifts", levels={"internal": {"epsilon": 3.5}})
    foreseen = preview(visits, "shifts", **levels)
    assert foreseen.refusal is not None
    assert [one.tier for one in foreseen.tiers if one.room and not one.room.fits] == [
        "public",
        "partner",
    ]
    with pytest.raises(BudgetExhausted) as refused:
        move(visits, "shifts", **levels)
    assert refused.value.detail == foreseen.refusal


def test_above_the_ceiling_the_exact_values_are_needed_and_below_it_they_are_not(
    visits: World,
) -> None:
    assert preview(visits, internal={"epsilon": 0.9}).reads
    assert preview(visits, internal={"epsilon": 0.9}).pushed
    assert not preview(visits, partner={"epsilon": 0.5}).reads


def test_another_state_has_another_basis(visits: World) -> None:
    before = preview(visits, partner={"epsilon": 0.3}).basis
    assert preview(visits, partner={"epsilon": 0.3}).basis == before
    assert preview(visits, partner={"epsilon": 0.4}).basis != before
    move(visits, public={"epsilon": 0.2})
    assert preview(visits, partner={"epsilon": 0.3}).basis != before


def test_those_who_hold_a_tier_are_named_and_those_shut_out_are_not(visits: World) -> None:
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance="internal"))
    users.disable(visits.server, OPERATOR, "ines")
    people = {one.tier: one.people for one in preview(visits, internal={"epsilon": 0.3}).tiers}
    assert people == {"public": ["pia"], "partner": [], "internal": ["paul"]}


def test_a_tier_that_was_taken_away_is_said_to_pay(visits: World) -> None:
    users.change(visits.server, OPERATOR, "paul", UserChange(clearance="public"))
    tier_changes.delete(visits.server, OPERATOR, "partner")
    assert preview(visits, public={"epsilon": 0.3}).former == ["partner"]
    assert preview(visits, internal={"epsilon": 0.3}).former == []


@pytest.mark.parametrize(
    "levels",
    [
        {"absent": {"epsilon": 0.3}},
        {"public": {"epsilon": 0.45}},
        {"internal": {"epsilon": 0.01}},
        {"internal": {"epsilon": 99}},
    ],
)
def test_levels_that_cannot_be_meant_are_refused_as_moving_them_is(
    visits: World, levels: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as foreseen:
        preview(visits, **levels)
    with pytest.raises(InvalidInput) as moved:
        move(visits, **levels)
    assert foreseen.value.errors == moved.value.errors


def test_only_admins_foresee_and_nothing_of_what_is_retired(visits: World) -> None:
    wanted = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.3}}}).levels
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            level_preview.preview(visits.server, visits.person(name), "visits", wanted)
    queries.retire(visits.server, OPERATOR, "visits")
    with pytest.raises(Conflict):
        preview(visits, internal={"epsilon": 0.3})
