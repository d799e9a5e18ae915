"""Test generalized Gaussian noise in the accountant: levels, charges, figures, powers."""

import math
from fractions import Fraction

import pytest
from tests.unit.accounting import quadrature
from tests.unit.mechanisms.generalized_gaussian.oracle import losses

from penstock.accounting import (
    PlacedRelease,
    account_of,
    charge,
    composed_epsilon,
    entry,
    level_for,
    level_for_share,
    raising,
    reading,
    readings,
    rung_for,
    rung_for_share,
    share_of,
)
from penstock.errors import InvalidInput
from penstock.mechanisms import GeneralizedGaussian
from penstock.privacy import Sensitivity, Target, TargetKind

DELTA = 1e-6
STEP, BOUND = Fraction(1), Fraction(10**6)
FOUR = GeneralizedGaussian.of(4)
NAME = FOUR.name


def counts(dimension: int) -> Sensitivity:
    return Sensitivity(Fraction(dimension), Fraction(dimension), Fraction(1))


def placed(level: float | Fraction, dimension: int, power: float = 4) -> PlacedRelease:
    return PlacedRelease(NAME, Fraction(1, 64), Fraction(level), counts(dimension), Fraction(power))


TARGETS = (
    ("epsilon", 0.1),
    ("epsilon", 3.0),
    ("standard_deviation", 50.0),
    ("half_width", 120.0),
)
TRIED = {("epsilon", 0.1, "1.25"), ("epsilon", 3.0, "4"), ("epsilon", 0.1, "16")}
"""Of the epsilons, which are dear; each power with one of them at every change."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "value", "power"),
    [
        pytest.param(
            *target,
            power,
            marks=[]
            if target[0] != "epsilon" or (*target, power) in TRIED
            else pytest.mark.nightly,
        )
        for target in TARGETS
        for power in ("1.25", "4", "16")
    ],
)
def test_a_level_keeps_its_target_and_a_hair_less_noise_does_not(
    kind: str, value: float, power: str
) -> None:
    family, target = GeneralizedGaussian.of(Fraction(power)), Target(TargetKind(kind), value)

    def has(level: Fraction) -> float:
        mechanism, _ = family.plan(level, STEP, BOUND)
        bars = mechanism.error(level, 0.95)
        if kind == "standard_deviation":
            return bars.standard_deviation / value
        if kind == "half_width":
            return bars.half_width / value
        return value / mechanism.guarantee(level, counts(64), DELTA).epsilon

    level = level_for(family(STEP), target, counts(64), DELTA)
    assert has(level) >= 1
    assert has(level * (1 - Fraction(1, 2**9))) < 1
    mechanism, ladder = family.plan(level, STEP, BOUND)
    rung = rung_for(mechanism, ladder, target, counts(64), DELTA)
    assert has(ladder.value(rung)) >= 1 > has(ladder.value(rung - 2))


def test_a_level_is_taken_as_it_is_and_other_kinds_are_refused() -> None:
    mechanism, ladder = FOUR.plan(Fraction(73), STEP, BOUND)
    named = Target(TargetKind.LEVEL, 73.0)
    assert level_for(mechanism, named, counts(64), DELTA) == 73
    rung = rung_for(mechanism, ladder, named, counts(64), DELTA)
    assert ladder.value(rung - 1) < 73 <= ladder.value(rung)
    for kind in (TargetKind.RHO, TargetKind.MU):
        with pytest.raises(InvalidInput, match=f"generalized_gaussian mechanism has no {kind}"):
            level_for(mechanism, Target(kind, 0.1), counts(64), DELTA)
    with pytest.raises(InvalidInput, match="delta 0 admits only pure noise"):
        level_for(mechanism, Target(TargetKind.EPSILON, 1.0), counts(64), 0.0)
    with pytest.raises(InvalidInput, match="delta 0 admits only pure noise"):
        charge(mechanism, ladder, Fraction(73), counts(64), account_of(1.0, 0.0), 64, 1)


SHARES = {("1.25", 20.0), ("4", 0.1), ("16", 1.0)}


@pytest.mark.parametrize(
    ("power", "epsilon"),
    [
        pytest.param(
            power, epsilon, marks=[] if (power, epsilon) in SHARES else pytest.mark.nightly
        )
        for power in ("1.25", "4", "16")
        for epsilon in (0.1, 1.0, 20.0)
    ],
)
def test_a_share_bounds_the_whole_charge_and_is_used_up(power: str, epsilon: float) -> None:
    family, account = GeneralizedGaussian.of(Fraction(power)), account_of(epsilon, DELTA)
    level = level_for_share(family, 0.3, counts(64), account, 64, 8, STEP, BOUND)
    mechanism, ladder = family.plan(level, STEP, BOUND)
    allowed = share_of(account, 0.3)

    def spent(at: Fraction) -> float:
        made = entry(charge(mechanism, ladder, at, counts(64), account, 64, 8))
        assert made.failure <= allowed.failure
        return made.loss / allowed.loss

    assert 0.999 < spent(level) <= 1
    rung = rung_for_share(mechanism, ladder, 0.3, counts(64), account, 64, 8)
    assert spent(ladder.value(rung)) <= 1 < spent(ladder.value(rung - 1))


def test_a_later_level_is_charged_in_full() -> None:
    account = account_of(1.0, DELTA)
    mechanism, ladder = FOUR.plan(Fraction(140), STEP, BOUND)
    old, new = (
        entry(charge(mechanism, ladder, Fraction(level), counts(64), account, 64, 8))
        for level in (300, 140)
    )
    added = raising(
        mechanism,
        ladder,
        charged=old,
        old=Fraction(300),
        new=Fraction(140),
        sensitivity=counts(64),
        account=account,
        dimension=64,
        level_count=8,
    )
    assert added == new


def test_two_independent_tiers_compose_to_the_known_figure() -> None:
    low, high = placed(138.6176, 64), placed(73.0979, 64)
    assert composed_epsilon([low], DELTA) == pytest.approx(0.5, rel=1e-5)
    both = composed_epsilon([low, high], DELTA)
    assert 1.11674 * (1 - 1e-5) < both < 1.11674 * (1 + 1e-3)


def test_a_lattice_of_values_and_a_power_of_2_are_read_as_the_gaussian_process() -> None:
    alone = PlacedRelease(NAME, Fraction(1, 64), Fraction(900), counts(4), Fraction(2))
    named = PlacedRelease("gaussian", Fraction(1, 64), Fraction(900), counts(4))
    assert composed_epsilon([alone], DELTA) == composed_epsilon([named], DELTA)
    pure = PlacedRelease(NAME, Fraction(1, 64), Fraction(9), counts(4), Fraction(1))
    assert composed_epsilon([pure], 0.0) == pytest.approx(4 / 9)
    assert composed_epsilon([placed(73, 64)], 0.0) == math.inf
    with pytest.raises(InvalidInput, match="needs its power p"):
        composed_epsilon([PlacedRelease(NAME, STEP, Fraction(9), counts(4))], DELTA)


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param(1e-3, marks=pytest.mark.nightly),
        1e-6,
        pytest.param(1e-9, marks=pytest.mark.nightly),
    ],
)
def test_releases_of_several_powers_beside_others_match_the_integral(delta: float) -> None:
    releases = [
        placed(150, 64),
        placed(150, 64),
        placed(90, 20, 2.5),
        PlacedRelease("gaussian", Fraction(1, 4096), Fraction(400), counts(1)),
        PlacedRelease("laplace", Fraction(1, 4096), Fraction(20), counts(9)),
    ]
    integrals = [
        losses(4.0, 1 / 150).times(128),
        losses(2.5, 1 / 90).times(20),
        quadrature.gaussian(1 / 20),
        quadrature.laplace(1 / 4096 / 20, 4096).times(9),
    ]
    composed = composed_epsilon(releases, delta)
    assert quadrature.delta_at(integrals, composed, 150, 512) <= delta * (1 + 1e-6)
    assert quadrature.delta_at(integrals, composed * (1 - 2e-3), 150, 512) > delta
    # Without one of them the figure would be too small.
    short = composed_epsilon(releases[1:], delta)
    assert quadrature.delta_at(integrals, short, 150, 512) > 1.1 * delta


def test_a_release_is_read_by_its_exact_losses_alone() -> None:
    mechanism = FOUR(Fraction(1, 64))
    (shown,) = readings(mechanism, Fraction(80), counts(64), 64, DELTA)
    assert shown.shown
    assert shown.epsilon == mechanism.guarantee(Fraction(80), counts(64), DELTA).epsilon
    with pytest.raises(InvalidInput, match="no reading called 'theorem'"):
        reading("theorem", mechanism, Fraction(80), counts(64), 64, DELTA)
