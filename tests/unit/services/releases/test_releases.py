"""Test the release transaction: one vector a level, forever, and nothing about others."""

import hashlib
import hmac
import json

import numpy as np
import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput, LevelsUsedUp, NotFound
from penstock.persistence.tables import Dataset, Grant, Leaf, Query, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state
from penstock.services.people import users
from penstock.services.repository.queries import query_by_name
from penstock.services.schemas.people.users import UserChange, UserSpec


def count(world: World, table: type[Release] | type[Leaf] | type[Grant]) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(table)).all())


def test_a_repeat_returns_the_same_values_and_writes_nothing(visits: World) -> None:
    first = visits.ask("pia")
    before = count(visits, Release), count(visits, Leaf), count(visits, Grant), visits.streams.taken
    again = visits.ask("pia")
    assert first.first
    assert not again.first
    assert again.view.id == first.view.id
    assert again.view.receipt == first.view.receipt
    assert np.array_equal(again.view.values, first.view.values)
    after = count(visits, Release), count(visits, Leaf), count(visits, Grant), visits.streams.taken
    assert before == after


def test_two_readers_at_one_level_get_the_identical_vector_under_one_name(visits: World) -> None:
    users.create(
        visits.server, OPERATOR, UserSpec(name="pete", roles=["analyst"], clearance="public")
    )
    mine, theirs = visits.ask("pia").view, visits.ask("pete").view
    assert np.array_equal(mine.values, theirs.values)
    assert mine.id == theirs.id
    assert mine.receipt.leaf_hash != theirs.receipt.leaf_hash


def test_when_a_release_was_drawn_for_others_is_not_told(visits: World) -> None:
    users.create(
        visits.server, OPERATOR, UserSpec(name="pete", roles=["analyst"], clearance="public")
    )
    visits.ask("pia")
    visits.clock.forward(days=3)
    assert visits.ask("pete").view.released_at == visits.clock.now


def test_promotion_acts_at_once_and_demotion_leaves_what_was_given(visits: World) -> None:
    noisy = visits.ask("pia").view
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="internal"))
    sharp = visits.ask("pia").view
    assert sharp.level.value < noisy.level.value
    users.change(visits.server, OPERATOR, "pia", UserChange(clearance="public"))
    with pytest.raises(ClearanceTooLow):
        visits.ask("pia", tier="internal")
    assert np.array_equal(visits.ask("pia").view.values, noisy.values)


def test_a_more_private_level_is_given_at_the_next_noisier_rung(visits: World) -> None:
    view = visits.ask("ines", epsilon=0.2).view
    assert view.guarantee.epsilon <= 0.2
    assert view.guarantee.epsilon > 0.2 * (1 - 2**-9)


def test_a_level_asked_for_by_number_is_labelled_by_the_least_trusted_tier_that_may_have_it(
    visits: World,
) -> None:
    rungs = {name: visits.ask(name).view for name in ("pia", "paul", "ines")}
    epsilons = [view.guarantee.epsilon for view in rungs.values()]
    assert epsilons == sorted(set(epsilons))
    tiers = ["public", "partner", "internal"]
    for epsilon, tier in zip(epsilons, tiers, strict=True):
        assert visits.ask("ines", epsilon=epsilon * (1 + 1e-9)).view.tier == tier
        assert visits.ask("ines", epsilon=epsilon * 0.9).view.tier == tier
    between = (epsilons[0] + epsilons[1]) / 2
    assert visits.ask("ines", epsilon=between).view.tier == "partner"
    assert visits.ask("ines", epsilon=between).view.tier == "partner"  # the repeat as well
    assert visits.ask("ines").view.tier == "internal"


def test_the_level_of_a_lower_tier_is_the_one_that_its_holders_get(visits: World) -> None:
    above = visits.ask("ines", tier="public").view
    below = visits.ask("pia").view
    assert np.array_equal(above.values, below.values)
    assert above.tier == "public"


@pytest.mark.parametrize("wanted", [{"tier": "internal"}, {"epsilon": 0.5}, {"level": 1.0}])
def test_a_level_above_the_clearance_is_refused_and_draws_nothing(
    visits: World, wanted: dict[str, object]
) -> None:
    before = visits.streams.taken
    with pytest.raises(ClearanceTooLow) as refused:
        visits.ask("pia", **wanted)
    told = "request 'public' or a less trusted tier, or ask an admin for a higher clearance"
    assert told in refused.value.detail or "tier" not in wanted
    assert visits.streams.taken == before
    assert count(visits, Grant) == 0


def test_a_query_out_of_sight_is_refused_in_the_words_for_one_that_is_missing(
    world: World,
) -> None:
    world.push("secret", levels={"internal": {"epsilon": 0.5}})
    with pytest.raises(NotFound) as hidden:
        world.ask("pia", "secret")
    with pytest.raises(NotFound) as missing:
        world.ask("pia", "nothing")
    assert hidden.value.detail.replace("secret", "nothing") == missing.value.detail


def test_somebody_without_a_clearance_sees_nothing(visits: World) -> None:
    users.create(visits.server, OPERATOR, UserSpec(name="nemo", roles=["analyst"]))
    with pytest.raises(NotFound):
        visits.ask("nemo")


def test_every_draw_is_from_the_nearest_stored_neighbors(visits: World) -> None:
    for level in (900.0, 300.0, 2000.0, 500.0, 400.0, 4000.0, 350.0):
        visits.ask("ines", level=level)
    with visits.server.database.read() as session:
        rows = session.exec(select(Release).order_by(col(Release.seq))).all()
    assert [row.seq for row in rows] == list(range(8))
    for row in rows[1:]:
        earlier = [other.rung for other in rows if other.seq < row.seq]
        assert row.accurate_rung == max(rung for rung in earlier if rung < row.rung)
        assert row.noisy_rung == min((rung for rung in earlier if rung > row.rung), default=None)


def test_what_is_handed_out_is_the_stored_state_to_the_bit(visits: World) -> None:
    view = visits.ask("paul").view
    with visits.server.database.read() as session:
        query = query_by_name(session, "visits")
        dataset = session.get_one(Dataset, query.dataset_id)
        release = session.exec(select(Release).where(col(Release.public_id) == view.id)).one()
    steps = open_state(visits.server, dataset, query, release)
    assert [float(step) * view.granularity for step in steps] == list(view.values)


def test_a_leaf_proves_the_values_without_holding_them(visits: World) -> None:
    view = visits.ask("pia").view
    with visits.server.database.read() as session:
        leaf = session.exec(select(Leaf).where(col(Leaf.kind) == "release")).one()
        query = session.exec(select(Query)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        release = session.exec(select(Release).where(col(Release.public_id) == view.id)).one()
    steps = open_state(visits.server, dataset, query, release)
    content = json.loads(leaf.bytes)
    message = view.id.encode() + b"\x00" + steps.astype("<i8").tobytes()
    expected = hmac.new(visits.server.secrets.values, message, hashlib.sha256).hexdigest()
    assert content["value_hmac"] == expected
    assert view.receipt.leaf_hash == hashlib.sha256(b"\x00" + leaf.bytes).hexdigest()
    assert content["user"] == content["actor"] == "pia"
    assert content["level"] == {"parameter": "variance", "value": view.level.value}


def test_the_number_of_levels_is_kept_and_tiers_always_have_room(world: World) -> None:
    world.push(max_levels=5)
    for level in (3000.0, 4000.0):
        world.ask("ines", level=level)
    with pytest.raises(LevelsUsedUp):
        world.ask("ines", level=5000.0)
    world.ask("ines", level=3000.0)
    assert world.ask("pia").first
    assert world.ask("paul").first
    assert world.ask("ines").first


def test_where_no_level_is_left_those_of_others_look_like_any(world: World) -> None:
    """Else whoever fills a query up could find out level by level what others were given."""
    world.push(max_levels=5)
    held = world.ask("ines", level=3000.0).view
    world.ask("ines", level=4000.0)
    refused = []
    for level in (3000.0, 5000.0):
        with pytest.raises(LevelsUsedUp) as refusal:
            world.ask("paul", level=level)
        refused.append((refusal.value.detail, refusal.value.data))
    assert refused[0] == refused[1]
    assert (world.ask("ines", level=3000.0).view.values == held.values).all()
    # Levels of tiers are no secret, and what was never full tells nothing.
    assert world.ask("paul").first


def test_a_level_beyond_the_ladder_says_how_far_it_goes(visits: World) -> None:
    with pytest.raises(InvalidInput, match="noisier than the noisiest"):
        visits.ask("ines", level=1e30)


def test_a_retired_query_gives_no_releases(visits: World) -> None:
    with visits.server.database.write() as session:
        query = query_by_name(session, "visits")
        query.status = "retired"
        session.add(query)
    with pytest.raises(Conflict, match="retired"):
        visits.ask("pia")


def test_poisson_values_are_handed_out_without_their_bias(world: World) -> None:
    world.push("counts", mechanism="poisson", values=[1000, 1000, 1000])
    view = world.ask("ines", "counts").view
    assert view.level.parameter == "mean"
    assert np.all(np.abs(view.values - 1000) < 8 * view.error.standard_deviation)
    assert view.level.value > 40


def test_laplace_readers_share_atoms_bit_for_bit(world: World) -> None:
    world.push("many", mechanism="laplace", keys=None, values=[5] * 2000)
    sharp = world.ask("ines", "many").view
    noisy = world.ask("paul", "many").view
    scales = sharp.level.value / noisy.level.value
    ties = float(np.mean(sharp.values == noisy.values))
    # Binomial(2000, scales^2): 6 standard deviations, a false alarm in 5e8.
    assert abs(ties - scales**2) < 6 * (scales**2 * (1 - scales**2) / 2000) ** 0.5
    with world.server.database.read() as session:
        assert kind_of(query_by_name(session, "many")).mechanism.name == "laplace"
