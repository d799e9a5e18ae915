"""Test generalized Gaussian queries.

Levels that are draws of their own, and what all of them cost.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import null
from sqlmodel import col, select
from tests.unit.services.added_levels import COUNTS, LEVELS, VALUES, furnish, move, push
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, World

from penstock.accounting import Entry, account_of, charge, entry, limit_of, share_of, total
from penstock.errors import ClearanceTooLow, Conflict, IntegrityViolation, InvalidInput
from penstock.persistence.tables import Charge, Query, Release, Tier, TierBudget
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.ledger.accounts import open_account
from penstock.services.noise import process as process_module
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.people import tier_changes
from penstock.services.queries import anchors, queries
from penstock.services.releases import locked_state
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
)


@pytest.fixture
def counts(copy_world: CopyWorld) -> World:
    return copy_world("counts", furnish)


def rungs_of(world: World) -> list[int]:
    """Return the rungs of all releases, in the order in which they were drawn."""
    with world.server.database.read() as session:
        return [row.rung for row in session.exec(select(Release).order_by(col(Release.seq))).all()]


def paid(world: World) -> dict[str, dict[int, Entry]]:
    """Return what was charged, by tier and rung."""
    found: dict[str, dict[int, Entry]] = {}
    with world.server.database.read() as session:
        for row in session.exec(select(Charge)).all():
            of_tier = found.setdefault(session.get_one(Tier, row.tier_id).name, {})
            assert row.rung not in of_tier
            of_tier[row.rung] = Entry(row.loss, row.failure)
    return found


def price(world: World, tier: str, rung: int) -> Entry:
    """Return what one release at ``rung`` costs ``tier``."""
    with world.server.database.read() as session:
        query = session.exec(select(Query).where(Query.name == "counts")).one()
        process = kind_of(query)
        row = session.exec(
            select(TierBudget)
            .join(Tier, col(TierBudget.tier_id) == col(Tier.id))
            .where(TierBudget.dataset_id == query.dataset_id, Tier.name == tier)
        ).one()
        account = account_of(row.epsilon, row.delta, row.order)
    level = process.ladder.value(rung)
    size = (query.dimension, query.max_levels)
    return entry(
        charge(process.mechanism, process.ladder, level, process.sensitivity, account, *size)
    )


@pytest.mark.slow
def test_all_levels_are_drawn_when_the_data_are_read(counts: World) -> None:
    own = rungs_of(counts)
    assert own == sorted(own)
    assert len(own) == 3
    taken = counts.streams.taken
    levels = [counts.ask(name, "counts").view.level.value for name in ("ines", "paul", "pia")]
    assert levels == sorted(levels)
    assert counts.streams.taken == taken
    assert rungs_of(counts) == own


def test_the_view_says_that_levels_are_not_lossless(counts: World) -> None:
    view = queries.show(counts.server, OPERATOR, "counts")
    assert (view.mechanism, view.p, view.lossless) == ("generalized_gaussian", 4, False)
    lowest, middle, highest = view.tiers
    assert lowest.composed is not None
    assert middle.composed is not None
    assert highest.composed is not None
    assert lowest.composed.epsilon == pytest.approx(lowest.guarantee.epsilon)
    assert middle.guarantee.epsilon == pytest.approx(0.5, rel=1e-3)
    assert middle.composed.epsilon > middle.guarantee.epsilon * 1.05
    assert highest.composed.levels == [one.level.value for one in (highest, middle, lowest)]
    assert highest.level.parameter == "scale"
    assert highest.error.standard_deviation < lowest.error.standard_deviation / 3


def test_a_tier_pays_for_every_level_at_or_below_it(counts: World) -> None:
    fine, middle, coarse = rungs_of(counts)
    seen = {"public": {coarse}, "partner": {coarse, middle}, "internal": {coarse, middle, fine}}
    assert paid(counts) == {
        tier: {rung: price(counts, tier, rung) for rung in rungs} for tier, rungs in seen.items()
    }


def test_two_tiers_at_one_level_share_one_draw_and_its_price(counts: World) -> None:
    push(counts, "even", levels={"public": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}})
    view = queries.show(counts.server, OPERATOR, "even")
    assert len({one.level.value for one in view.tiers}) == 2
    low, same = (counts.ask(name, "even").view for name in ("pia", "paul"))
    assert low.id == same.id
    np.testing.assert_array_equal(low.values, same.values)
    assert view.tiers[0].composed == view.tiers[1].composed


def test_a_share_holds_for_the_whole_charge_of_each_tier(world: World) -> None:
    world.push("counts", **{**COUNTS, "levels": None, "share": 0.25})
    charged, drawn = paid(world), rungs_of(world)
    assert len(drawn) == 3
    with world.server.database.read() as session:
        tiers_of = session.exec(select(Tier).order_by(col(Tier.rank))).all()
        for place, tier in enumerate(tiers_of):
            account = open_account(session, 1, tier)
            assert account is not None
            allowed = share_of(account.account, 0.25)
            cost = total(charged[tier.name].values())
            assert cost.loss <= allowed.loss
            assert cost.failure <= allowed.failure
            assert cost.loss > 0.98 * limit_of(account.account).loss * 0.25
            own = sorted(drawn, reverse=True)[place]
            finer = price(world, tier.name, own - 1).loss - price(world, tier.name, own).loss
            assert cost.loss + finer > allowed.loss


def test_tiers_of_equal_budgets_get_one_level_of_a_share(world: World) -> None:
    """The share of the upper one is used up by what the lower one sees."""
    even = {name: {"epsilon": 2.0} for name in LEVELS}
    request = DatasetRequest.model_validate({**SITES, "name": "even", "budgets": even})
    datasets.register(world.server, OPERATOR, request)
    view = world.push("counts", **{**COUNTS, "dataset": "even", "levels": None, "share": 0.5})
    assert len({one.level.value for one in view.tiers}) == 1
    assert len(rungs_of(world)) == 1


@pytest.mark.parametrize("wanted", [{"epsilon": 0.3}, {"level": 1000.0}])
def test_a_level_that_was_not_drawn_is_refused_by_the_names_of_those_that_were(
    counts: World, wanted: dict[str, float]
) -> None:
    own = [counts.ask(name, "counts").view.level.value for name in ("ines", "paul", "pia")]
    with pytest.raises(InvalidInput, match=r"no lossless levels.*independent draw") as refused:
        counts.ask("ines", "counts", **wanted)
    assert ", ".join(f"{level:g}" for level in own) in refused.value.detail
    with pytest.raises(InvalidInput) as refused:
        counts.ask("paul", "counts", **wanted)
    assert f"{own[0]:g}" not in refused.value.detail
    assert f"{own[1]:g}, {own[2]:g}" in refused.value.detail


def test_levels_of_tiers_below_are_asked_for_by_any_of_their_names(counts: World) -> None:
    lower = counts.ask("pia", "counts").view
    for wanted in ({"tier": "public"}, {"epsilon": 0.25}, {"level": lower.level.value}):
        assert counts.ask("ines", "counts", **wanted).view.id == lower.id
    with pytest.raises(ClearanceTooLow):
        counts.ask("pia", "counts", epsilon=0.5)
    with pytest.raises(ClearanceTooLow):
        counts.ask("pia", "counts", epsilon=0.51)


def test_a_later_level_is_a_new_draw_and_a_new_charge_for_all_who_may_see_it(
    counts: World,
) -> None:
    before, charged = counts.ask("ines", "counts").view, paid(counts)
    with pytest.raises(InvalidInput, match="send its exact values again"):
        move(counts, values=None, partner={"epsilon": 0.7})
    assert paid(counts) == charged
    view = move(counts, partner={"epsilon": 0.7})
    (new,) = set(rungs_of(counts)) - {rung for of in charged.values() for rung in of}
    after = paid(counts)
    assert after["public"] == charged["public"]
    for tier in ("partner", "internal"):
        assert after[tier] == {**charged[tier], new: price(counts, tier, new)}
    fresh, old = counts.ask("paul", "counts").view, counts.ask("ines", "counts").view
    assert fresh.level.value == view.tiers[1].level.value
    np.testing.assert_array_equal(old.values, before.values)
    assert view.tiers[2].composed is not None
    assert len(view.tiers[2].composed.levels) == 4


def test_a_lower_level_acts_on_the_future_and_stays_paid(counts: World) -> None:
    finest = counts.ask("ines", "counts").view.level.value
    charged = paid(counts)["internal"]
    view = move(counts, values=None, internal={"epsilon": 0.5})
    assert paid(counts)["internal"] == charged
    with pytest.raises(ClearanceTooLow):
        counts.ask("ines", "counts", level=finest)
    assert counts.ask("ines", "counts").view.id == counts.ask("paul", "counts").view.id
    composed = view.tiers[2].composed
    assert composed is not None
    assert finest in composed.levels


def test_noisier_levels_of_tiers_above_are_nobody_elses(counts: World) -> None:
    """A level is seen by those who pay for it, not by all whose own is more accurate."""
    move(counts, public={"epsilon": 0.1}, partner={"epsilon": 0.2}, internal={"epsilon": 0.2})
    secret = counts.ask("paul", "counts").view.level.value
    # Both new levels are drawn at once.
    assert counts.ask("pia", "counts").view.level.value > secret
    move(
        counts,
        values=None,
        public={"epsilon": 0.25},
        partner={"epsilon": 0.25},
        internal={"epsilon": 0.25},
    )
    assert counts.ask("pia", "counts").view.level.value < secret
    with pytest.raises(InvalidInput, match="no lossless levels") as refused:
        counts.ask("pia", "counts", level=secret)
    assert f"{secret:g}," not in refused.value.detail.partition("Ask for")[2]
    assert counts.ask("paul", "counts", level=secret).view.level.value == secret


def test_other_values_are_refused_before_anything_is_charged(counts: World) -> None:
    charged = paid(counts)
    with pytest.raises(Conflict, match="not those"):
        move(counts, values=VALUES[::-1], partner={"epsilon": 0.7})
    assert paid(counts) == charged


def test_a_change_that_was_interrupted_is_finished_for_nothing_more(
    counts: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rungs_of(counts)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("penstock.services.queries.level_changes._draw_again", killed)
        with pytest.raises(KeyboardInterrupt):
            move(counts, partner={"epsilon": 0.7})
    charged = paid(counts)
    assert len(charged["partner"]) == 3
    assert rungs_of(counts) == before
    with pytest.raises(InvalidInput, match="no lossless levels"):
        counts.ask("ines", "counts", epsilon=0.7)
    move(counts, partner={"epsilon": 0.7})
    assert paid(counts) == charged
    assert len(rungs_of(counts)) == len(before) + 1


def test_a_tier_in_between_has_the_levels_below_it_and_no_draw(counts: World) -> None:
    before = rungs_of(counts)
    tier_changes.create(counts.server, OPERATOR, TierSpec(name="between", above="public"))
    assert rungs_of(counts) == before
    assert set(paid(counts)["between"]) == set(paid(counts)["public"])


def failing(times: int) -> Callable[..., None]:
    """Return what stores a draw, working so many times and then failing."""
    left, store = [times], anchors._store

    def stored(*arguments: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        store(*arguments)

    return stored


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_registration_that_fails_keeps_no_level(
    counts: World, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    kept, charged = rungs_of(counts), None
    with monkeypatch.context() as patch:
        patch.setattr(anchors, "_store", failing(times))
        with pytest.raises(KeyboardInterrupt):
            push(counts, "again")
    assert rungs_of(counts) == kept
    assert queries.show(counts.server, OPERATOR, "again").status == "pending"
    with counts.server.database.read() as session:
        charged = len(session.exec(select(Charge)).all())
    push(counts, "again")
    assert len(rungs_of(counts)) == len(kept) + 3
    with counts.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == charged


def test_a_level_whose_row_is_gone_is_not_drawn_anew(
    counts: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked_state, "AT", null())
    monkeypatch.setattr(locked_state, "_statement", locked_state._statement.__wrapped__)
    with pytest.raises(IntegrityViolation, match="nothing is drawn"):
        counts.ask("ines", "counts")


def test_any_number_of_epsilons_is_looked_up_among_the_levels_that_there_are(
    counts: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding the level of an epsilon takes tenths of a second, and somebody may ask for many."""
    shown = queries.show(counts.server, counts.person("ines"), "counts").tiers
    own = {one.tier: one.guarantee.epsilon for one in shown}
    assert counts.ask("ines", "counts", epsilon=own["public"]).view.guarantee == shown[0].guarantee

    def never(*_: object) -> int:
        raise AssertionError("a level was worked out again")

    monkeypatch.setattr(process_module, "stored_rung_for", never)
    monkeypatch.setattr(process_module, "_guarantee", cached_alone(process_module._guarantee))
    for number in range(50):
        with pytest.raises(InvalidInput, match="has no level of epsilon"):
            counts.ask("ines", "counts", epsilon=0.9 * own["public"] * (1 - number / 100))
    with pytest.raises(ClearanceTooLow, match="is more accurate than"):
        counts.ask("pia", "counts", epsilon=own["internal"])
    assert counts.ask("pia", "counts", epsilon=own["public"]).first


def cached_alone(kept: Any) -> Any:
    """Answer what was worked out before, and nothing else."""

    def answer(*asked: object) -> Any:
        before = kept.cache_info().misses
        found = kept(*asked)
        worked.extend([asked] if kept.cache_info().misses > before else [])
        assert len(worked) <= 6, "each level there is, and the one before it"
        return found

    worked: list[object] = []
    return answer
