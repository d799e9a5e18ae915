"""Test what independent levels tell together: exposure, budgets, leaves, previews and advice."""

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from sqlmodel import col, select
from tests.databases.homes import SQLITE
from tests.unit.services.added_levels import LEVELS, furnish, move, previewed, push
from tests.unit.services.datasets import stays
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, World

from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.accounting.reporting.report import composed_epsilon
from penstock.errors import Conflict, InvalidInput
from penstock.persistence.tables import Charge, Leaf
from penstock.privacy import Sensitivity
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.people import users
from penstock.services.previews import query_preview
from penstock.services.queries import queries
from penstock.services.schemas.exposure import ExposureView
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    DatasetRequest,
    LevelsChange,
    PreviewRequest,
)

pytestmark = pytest.mark.only(SQLITE)  # the reports are worked out from rows

TOGETHER = 1.1167
"""Of epsilons 0.5 and 1 at p = 4, 64 counts and delta 1e-6 (independent computation)."""


MOVED = Sensitivity(Fraction(64), Fraction(64), Fraction(1))
"""By one unit: each of 64 counts by 1."""


@pytest.fixture
def counts(copy_world: CopyWorld) -> World:
    """Return the world with one query of 64 counts with p = 4."""
    return copy_world("counts", furnish)


def exposed(world: World, *names: str) -> ExposureView:
    return exposure.of(world.server, world.person("otto"), names, "large")


@pytest.mark.slow
def test_a_coalition_is_exposed_to_the_composition_of_what_it_holds(counts: World) -> None:
    push(counts, "two", levels={"partner": LEVELS["partner"], "internal": LEVELS["internal"]})
    for name in ("paul", "ines"):
        counts.ask(name, "two")
    alone, both = exposed(counts, "ines"), exposed(counts, "ines", "paul")
    (one,), (two,) = alone.queries, both.queries
    assert one.guarantee == two.guarantee
    assert one.guarantee.epsilon == pytest.approx(1, rel=2e-3)
    assert one.composed is not None
    assert two.composed is not None
    assert one.composed.epsilon == one.guarantee.epsilon
    assert two.composed.epsilon == pytest.approx(TOGETHER, rel=2e-3)
    assert alone.released.epsilon == pytest.approx(1, rel=2e-3)
    assert both.released.epsilon == pytest.approx(TOGETHER, rel=2e-3)
    assert both.independent.epsilon == both.released.epsilon


def test_a_lossless_query_beside_it_counts_with_its_best_level_alone(counts: World) -> None:
    push(counts, "even", p=2)
    for name in ("pia", "ines"):
        counts.ask(name, "even")
    both = exposed(counts, "ines", "pia")
    assert both.queries[0].composed is None
    assert both.released.epsilon == pytest.approx(exposed(counts, "ines").released.epsilon)


def test_what_could_be_is_all_that_the_highest_tier_may_fetch(counts: World) -> None:
    nothing = exposed(counts, "ines")
    assert nothing.released.epsilon == 0
    view = queries.show(counts.server, OPERATOR, "counts")
    for tier, name in zip(view.tiers, ("pia", "paul", "ines"), strict=True):
        assert tier.composed is not None
        could_be = exposed(counts, name).could_be
        assert could_be.epsilon == pytest.approx(tier.composed.epsilon, rel=2e-3)
    move(counts, partner={"epsilon": 0.7})
    assert exposed(counts, "ines").could_be.epsilon > nothing.could_be.epsilon * 1.1


def test_what_somebody_held_before_a_promotion_adds_up(counts: World) -> None:
    counts.ask("pia", "counts")
    before = exposed(counts, "pia").released.epsilon
    users.change(counts.server, OPERATOR, "pia", UserChange(clearance="partner"))
    second = counts.ask("pia", "counts").view.guarantee.epsilon
    after = exposed(counts, "pia").released.epsilon
    assert second < after < before + second


def test_the_budget_composes_what_a_tier_may_see(counts: World) -> None:
    seen = budgets.show(counts.server, counts.person("otto"), "large")
    view = queries.show(counts.server, OPERATOR, "counts")
    for line, tier in zip(seen.tiers, view.tiers, strict=True):
        assert tier.composed is not None
        assert line.spent.epsilon == pytest.approx(tier.composed.epsilon, rel=2e-3)
        assert [one.query for one in line.queries] == ["counts"]
        assert line.queries[0].share == pytest.approx(line.spent_share)


def test_a_leaf_lists_every_level_that_its_actor_had_read(counts: World) -> None:
    users.change(counts.server, OPERATOR, "ada", UserChange(roles=["admin", "analyst"]))
    users.change(counts.server, OPERATOR, "ada", UserChange(clearance="internal"))
    ada = counts.person("ada")
    levels = []
    for tier in ("public", "internal"):
        view = queries.show(counts.server, ada, "counts")
        levels.append(next(one.level.value for one in view.tiers if one.tier == tier))
        counts.ask("ada", "counts", tier=tier)
    queries.retire(counts.server, ada, "counts")
    with counts.server.database.read() as session:
        newest = session.exec(select(Leaf).order_by(col(Leaf.id).desc())).first()
    assert newest is not None
    assert json.loads(newest.bytes)["actor_exposure"] == {"counts": sorted(levels)}


@pytest.mark.parametrize("terms", [{"levels": LEVELS}, {"levels": None, "share": 0.01}])
def test_a_preview_is_what_registering_then_charges(counts: World, terms: dict[str, Any]) -> None:
    seen = previewed(counts, **terms)
    view = push(counts, "next", **terms)
    assert (seen.p, seen.lossless, seen.mechanism) == (4, False, "generalized_gaussian")
    with counts.server.database.read() as session:
        rows = session.exec(select(Charge).order_by(col(Charge.tier_id), col(Charge.id))).all()
    newest = max(row.query_id for row in rows)
    sums = {
        tier: sum(row.loss for row in group) / 2**40
        for tier, group in itertools.groupby(
            (row for row in rows if row.query_id == newest), key=lambda row: row.tier_id
        )
    }
    assert [tier.charge.loss for tier in seen.tiers] == pytest.approx(list(sums.values()))
    assert [tier.composed for tier in seen.tiers] == [tier.composed for tier in view.tiers]
    paid = query_preview.preview(
        counts.server,
        OPERATOR,
        TypeAdapter[PreviewRequest](PreviewRequest).validate_python({"query": "next"}),
    )
    assert [tier.charge.loss for tier in paid.tiers] == [tier.charge.loss for tier in seen.tiers]
    assert paid.powers == seen.powers


@pytest.mark.parametrize(("p", "name"), [(1, "laplace"), (2, "gaussian")])
def test_the_lossless_powers_are_the_processes_of_these_names(
    counts: World, p: int, name: str
) -> None:
    view = push(counts, "plain", p=p)
    assert (view.mechanism, view.p, view.lossless) == (name, None, True)
    own = push(counts, "named", p=None, mechanism=name)
    assert view.tiers == own.tiers
    taken = counts.streams.taken
    counts.ask("ines", "plain", epsilon=0.3)
    assert counts.streams.taken == taken + 1
    assert previewed(counts, p=p).tiers[0].expected_maximum is not None


def test_long_laplace_vectors_are_read_at_delta_beside_their_pure_loss(counts: World) -> None:
    """Compare with Andersson, Pagh, Steiner, Torkamani 2024, Theorem 1.3, by an l2 of 8."""
    for tier in previewed(counts, p=1).tiers:
        ratio = 8 / tier.level.value
        known = ratio**2 / 2 + ratio * math.sqrt(2 * math.log(1e6))
        assert tier.at_delta is not None
        assert tier.at_delta.delta == 1e-6
        assert tier.at_delta.epsilon == tier.guarantee.epsilon < known
        assert tier.guarantee.pure_epsilon == pytest.approx(64 / tier.level.value)
        assert known < 0.7 * 64 / tier.level.value
        # Never below the truth, the privacy-loss distribution of all 64 coordinates together.
        law = PlacedRelease("laplace", Fraction(1), Fraction(tier.level.value), MOVED)
        assert tier.at_delta.epsilon > composed_epsilon([law], 1e-6)
    assert {tier.at_delta for tier in previewed(counts, p=2).tiers} == {None}
    short = {"values": [1] * 8, "sensitivity": {"l1": 8, "linf": 1}, "p": 1}
    assert {tier.at_delta for tier in previewed(counts, **short).tiers} == {None}


@pytest.mark.slow
def test_one_statistic_is_one_query_whatever_its_power_is_called(
    world: World, tmp_path: Path
) -> None:
    file = tmp_path / "stays.csv"
    file.write_text(stays.ROWS)
    stays.register(world, file)
    levels = {"levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.2}}}
    general = {"mechanism": "generalized_gaussian", **levels}
    stays.query(world, mechanism="gaussian", **levels)
    with pytest.raises(Conflict, match="registered already"):
        stays.query(world, name="again", p=2, **general)
    stays.query(world, name="three", p=3, **general)
    with pytest.raises(Conflict, match="registered already, as query 'three'"):
        stays.query(world, name="again", p=3.0, **general)
    taken = world.streams.taken
    wanted = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 0.4}}})
    queries.change(world.server, OPERATOR, "three", wanted)
    assert world.streams.taken == taken + 1


@pytest.mark.parametrize("p", [0.5, 0.999, -3, 16.1, 1e9])
def test_a_power_out_of_range_is_refused_with_the_range(counts: World, p: float) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"from 1 to 16, not {p:g}")) as refused:
        push(counts, "bad", p=p)
    assert refused.value.errors[0][0] == "/p"


def test_a_power_belongs_to_its_mechanism_alone(counts: World) -> None:
    with pytest.raises(ValidationError, match="a number from 1 to 16"):
        push(counts, "bad", p=None)
    for name in ("gaussian", "laplace", "poisson", "skellam"):
        with pytest.raises(InvalidInput, match=f"{name} mechanism has no power"):
            push(counts, "bad", mechanism=name)
    with pytest.raises(ValidationError, match="leave granularity out"):
        push(counts, "bad", granularity=1)


@pytest.mark.parametrize("kind", ["rho", "mu"])
def test_a_level_of_another_mechanisms_kind_is_refused(counts: World, kind: str) -> None:
    with pytest.raises(InvalidInput, match=f"has no {kind}"):
        push(counts, "bad", levels={"public": {kind: 0.1}})


def test_a_dataset_of_delta_0_admits_p_1_alone(world: World) -> None:
    request = DatasetRequest.model_validate({**SITES, "name": "large", "delta": 0})
    datasets.register(world.server, OPERATOR, request)
    with pytest.raises(InvalidInput, match="generalized_gaussian noise breaks every epsilon"):
        push(world, p=3)
    advice = previewed(world, p=1).powers
    assert advice is not None
    assert advice.recommended == 1
    assert push(world, p=1).mechanism == "laplace"
