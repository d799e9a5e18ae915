"""Test that a target is met on the planned lattice, with hardly more noise than needed."""

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from penstock.accounting import (
    Account,
    account_of,
    charge,
    check,
    entry,
    level_for,
    level_for_share,
    rung_for,
    rung_for_share,
    share_of,
    total,
)
from penstock.errors import InvalidInput
from penstock.mechanisms import (
    MECHANISMS,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    Mechanism,
    Poisson,
    Skellam,
)
from penstock.privacy import Sensitivity, Target, TargetKind

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
WIDE = Sensitivity(Fraction(12), Fraction(48), Fraction(4))
STEP = Fraction(1)
BOUND = Fraction(2**31)
DELTA = 1e-6
FAMILIES = sorted(MECHANISMS)
TARGETS = [
    Target(TargetKind.EPSILON, 0.1),
    Target(TargetKind.EPSILON, 2.0),
    Target(TargetKind.STANDARD_DEVIATION, 45.03),
    Target(TargetKind.HALF_WIDTH, 88.26),
    Target(TargetKind.HALF_WIDTH, 20.0, confidence=0.5),
]


def kept(mechanism: Mechanism, level: Fraction, target: Target, sensitivity: Sensitivity) -> bool:
    if target.kind is TargetKind.EPSILON:
        return mechanism.guarantee(level, sensitivity, DELTA).epsilon <= target.value
    bars = mechanism.error(level, target.confidence)
    if target.kind is TargetKind.STANDARD_DEVIATION:
        return bars.standard_deviation >= target.value
    return bars.half_width >= target.value


@pytest.mark.parametrize("sensitivity", [ONE, WIDE], ids=["one", "wide"])
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.kind}-{target.value:g}")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_level_keeps_its_target_and_the_next_finer_rung_does_not(
    name: str, target: Target, sensitivity: Sensitivity
) -> None:
    family = MECHANISMS[name]
    level = level_for(family(STEP), target, sensitivity, DELTA)
    planned, ladder = family.plan(level, STEP, BOUND)
    assert isinstance(level, Fraction)
    assert kept(planned, level, target, sensitivity)
    assert not kept(planned, level * Fraction(997, 1000), target, sensitivity)
    rung = rung_for(planned, ladder, target, sensitivity, DELTA)
    assert kept(planned, ladder.value(rung), target, sensitivity)
    # The level itself is known to a part in 2^20, and a half width on a coarse lattice is a
    # sawtooth of it, so that the rung may be one of several around it.
    assert ladder.rung_at_or_above(level * Fraction(99, 100)) <= rung
    assert not (rung and kept(planned, ladder.value(rung - 1), target, sensitivity))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 60.0])
def test_gaussian_epsilon_inverts_the_analytic_curve(epsilon: float) -> None:
    """Balle, Wang (2018), Theorem 8, inverted here by its own means."""

    def excess(sigma: float) -> float:
        upper = norm.logsf(epsilon * sigma - 0.5 / sigma)
        lower = epsilon + norm.logsf(epsilon * sigma + 0.5 / sigma)
        return float(math.exp(upper) * -math.expm1(lower - upper)) - DELTA

    sigma = brentq(excess, 1e-3, 1e4, xtol=1e-14, rtol=1e-14)
    level = level_for(Gaussian(STEP), Target(TargetKind.EPSILON, epsilon), ONE, DELTA)
    assert 1 <= level / sigma**2 <= 1 + 1e-5


def test_targets_with_a_closed_form_are_exact() -> None:
    def level(mechanism: Mechanism, kind: TargetKind, value: float) -> Fraction:
        return level_for(mechanism, Target(kind, value), WIDE, DELTA)

    assert level(Gaussian(STEP), TargetKind.RHO, 0.125) == 48 * 4
    assert level(Gaussian(STEP), TargetKind.MU, 0.5) == 48 * 4
    assert level(Gaussian(STEP), TargetKind.STANDARD_DEVIATION, 6.5) == Fraction(169, 4)
    assert level(Gaussian(STEP), TargetKind.LEVEL, 42.25) == Fraction(169, 4)
    assert level(Laplace(STEP), TargetKind.EPSILON, 0.25) == 48


@pytest.mark.parametrize("mu", [0.1, 1 / 3, 0.7, 1.9])
def test_a_reported_mu_or_rho_is_never_above_the_one_asked_for(mu: float) -> None:
    mechanism = Gaussian(STEP)
    level = level_for(mechanism, Target(TargetKind.MU, mu), WIDE, DELTA)
    promised = mechanism.guarantee(level, WIDE, DELTA).mu
    assert promised is not None
    assert mu * (1 - 1e-12) <= promised <= mu
    level = level_for(mechanism, Target(TargetKind.RHO, mu), WIDE, DELTA)
    promised = mechanism.guarantee(level, WIDE, DELTA).rho
    assert promised == mu


def test_a_mu_that_floats_would_put_above_the_one_asked_for_has_a_hair_more_noise() -> None:
    mu, sensitivity = 1.5316037473787751, Sensitivity(Fraction(3), Fraction(5), Fraction(1))
    level = level_for(Gaussian(STEP), Target(TargetKind.MU, mu), sensitivity, DELTA)
    assert level > 5 / Fraction(mu) ** 2
    found = Gaussian(STEP).guarantee(level, sensitivity, DELTA).mu
    assert found is not None
    assert found <= mu


@pytest.mark.parametrize("family", [Gaussian, Laplace])
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.kind}-{target.value:g}")
def test_the_step_of_the_values_hardly_matters(family: type[Mechanism], target: Target) -> None:
    levels = [
        level_for(family.plan(Fraction(1), step, BOUND)[0], target, ONE, DELTA)
        for step in (STEP, STEP / 2**10)
    ]
    assert levels[0] == pytest.approx(levels[1], rel=1e-3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.0, -1.0, 1e-300, 1e300])
@pytest.mark.parametrize("kind", list(TargetKind))
@pytest.mark.parametrize("name", FAMILIES)
def test_values_that_no_target_has_are_refused(name: str, kind: TargetKind, value: float) -> None:
    with pytest.raises(InvalidInput) as refusal:
        level_for(MECHANISMS[name](STEP), Target(kind, value), ONE, DELTA)
    assert refusal.value.errors[0][0] == f"/{kind}"


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5, -0.1, math.nan])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        level_for(Gaussian(STEP), Target(TargetKind.HALF_WIDTH, 3.0, confidence), ONE, DELTA)


@pytest.mark.parametrize("kind", [TargetKind.RHO, TargetKind.MU])
@pytest.mark.parametrize("family", [Laplace, Poisson])
def test_rho_and_mu_belong_to_gaussian_noise(family: type[Mechanism], kind: TargetKind) -> None:
    mechanism, ladder = family.plan(Fraction(100), STEP, BOUND)
    for ask in (
        lambda: level_for(mechanism, Target(kind, 0.1), ONE, DELTA),
        lambda: rung_for(mechanism, ladder, Target(kind, 0.1), ONE, DELTA),
    ):
        with pytest.raises(InvalidInput, match="epsilon, standard_deviation, half_width or level"):
            ask()


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        level_for(Gaussian(STEP), Target(TargetKind.EPSILON, 1.0), ONE, delta)


@pytest.mark.parametrize(
    "target",
    [Target(TargetKind.HALF_WIDTH, 1e-9), Target(TargetKind.STANDARD_DEVIATION, 0.3)],
    ids=lambda target: str(target.kind),
)
def test_poisson_noise_has_a_mean_of_at_least_one(target: Target) -> None:
    assert level_for(Poisson(STEP), target, ONE, DELTA) == 1


@pytest.mark.parametrize("name", FAMILIES)
def test_a_share_of_next_to_nothing_is_refused(name: str) -> None:
    wide = Sensitivity(Fraction(10**9), Fraction(10**15), Fraction(10**6))
    with pytest.raises(InvalidInput, match="do not fit"):
        level_for_share(MECHANISMS[name], 1e-300, wide, account_of(1, 1e-6), 1, 1, STEP, BOUND)


@pytest.mark.parametrize(
    ("family", "one", "wide"),
    [
        (Poisson, (6960, 3631, 2230), (10858, 7170, 4565)),
        (Skellam, (6890, 3057, 0), (10852, 7129, 4377)),
        (GeneralizedGaussian.of(1), (0, 0, 0), (2314, 324, 0)),
        (GeneralizedGaussian.of(1.5), (838, 0, 0), (3021, 1116, 0)),
        (GeneralizedGaussian.of(2), (1446, 0, 0), (3425, 1565, 196)),
        (GeneralizedGaussian.of(4), (2557, 772, 0), (4246, 2447, 1138)),
        (GeneralizedGaussian.of(16), (4101, 2406, 1182), (5710, 3983, 2735)),
    ],
)
def test_the_epsilons_of_a_registered_query_name_the_rungs_that_they_named_in_version_4(
    family: type[Mechanism], one: Sequence[int], wide: Sequence[int]
) -> None:
    mechanism, ladder = family.plan(Fraction(100), STEP, Fraction(1000))
    for sensitivity, rungs in ((ONE, one), (WIDE, wide)):
        for epsilon, rung in zip((0.1, 0.7, 3.0), rungs, strict=True):
            target = Target(TargetKind.EPSILON, epsilon)
            assert rung_for(mechanism, ladder, target, sensitivity, DELTA) == rung


def test_noise_beyond_the_integers_is_refused_with_the_lattice() -> None:
    with pytest.raises(InvalidInput, match="do not fit"):
        level_for(Gaussian(Fraction(1, 2**20)), Target(TargetKind.EPSILON, 1e-9), WIDE, 1e-12)


def test_a_target_noisier_than_the_ladder_is_refused() -> None:
    mechanism, ladder = Gaussian.plan(Fraction(100), STEP, BOUND)
    with pytest.raises(InvalidInput, match="noisier"):
        rung_for(mechanism, ladder, Target(TargetKind.EPSILON, 1e-9), WIDE, 1e-15)


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 60.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_whole_charge_of_a_share_is_within_it(name: str, epsilon: float) -> None:
    family, account = MECHANISMS[name], account_of(epsilon, DELTA)
    level = level_for_share(family, 0.1, WIDE, account, 256, 32, STEP, BOUND)
    mechanism, ladder = family.plan(level, STEP, BOUND)
    allowed = share_of(account, 0.1)

    def made(at: Fraction) -> bool:
        cost = entry(charge(mechanism, ladder, at, WIDE, account, 256, 32))
        return cost.loss <= allowed.loss and cost.failure <= allowed.failure

    assert made(level)
    assert not made(level * Fraction(997, 1000))
    rung = rung_for_share(mechanism, ladder, 0.1, WIDE, account, 256, 32)
    assert made(ladder.value(rung))
    assert not made(ladder.value(rung - 1))
    assert ladder.value(rung) <= level * Fraction(1003, 1000)


@pytest.mark.parametrize("name", FAMILIES)
def test_ten_tenths_fit_one_account_and_an_eleventh_does_not(name: str) -> None:
    account = account_of(1.0, DELTA)
    level = level_for_share(MECHANISMS[name], 0.1, ONE, account, 10, 8, STEP, BOUND)
    mechanism, ladder = MECHANISMS[name].plan(level, STEP, BOUND)
    tenth = entry(charge(mechanism, ladder, level, ONE, account, 10, 8))
    assert check(account, total([tenth] * 9), tenth) is None
    refused = check(account, total([tenth] * 10), tenth)
    assert refused is not None
    assert refused.largest_share < 1e-4


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("epsilon", [0.5, 60.0])
def test_the_largest_share_of_a_refusal_fits_when_it_is_taken(name: str, epsilon: float) -> None:
    account = account_of(epsilon, DELTA)
    level = level_for_share(MECHANISMS[name], 0.6, WIDE, account, 10, 8, STEP, BOUND)
    mechanism, ladder = MECHANISMS[name].plan(level, STEP, BOUND)
    first = entry(charge(mechanism, ladder, level, WIDE, account, 10, 8))
    refused = check(account, first, first)
    assert refused is not None
    rung = rung_for_share(mechanism, ladder, refused.largest_share, WIDE, account, 10, 8)
    second = entry(charge(mechanism, ladder, ladder.value(rung), WIDE, account, 10, 8))
    assert check(account, first, second) is None


@pytest.mark.parametrize("share", [0.0, -0.1, 1.0000001, math.nan, math.inf])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    account = account_of(1.0, DELTA)
    mechanism, ladder = Gaussian.plan(Fraction(100), STEP, BOUND)
    with pytest.raises(InvalidInput, match="share"):
        level_for_share(Gaussian, share, ONE, account, 1, 1, STEP, BOUND)
    with pytest.raises(InvalidInput, match="share"):
        rung_for_share(mechanism, ladder, share, ONE, account, 1, 1)


def test_a_sampler_whose_error_exceeds_every_share_is_refused_with_the_numbers() -> None:
    account: Account = account_of(1.0, 1e-15)
    with pytest.raises(InvalidInput, match=r"failure probability of 2\.7.*e-13.*allows 1e-17"):
        level_for_share(Gaussian, 0.1, ONE, account, 10**7, 1024, STEP, BOUND)
    mechanism, ladder = Gaussian.plan(Fraction(100), STEP, BOUND)
    with pytest.raises(InvalidInput, match="Request a larger share"):
        rung_for_share(mechanism, ladder, 0.1, ONE, account, 10**7, 1024)


def test_values_too_large_for_the_accuracy_of_a_share_are_refused() -> None:
    with pytest.raises(InvalidInput, match="do not fit"):
        level_for_share(Gaussian, 1.0, ONE, account_of(300.0, DELTA), 1, 1, STEP, BOUND)


def test_no_budget_is_large_enough_to_go_beyond_what_the_sampler_holds() -> None:
    account = account_of(300.0, DELTA)
    level = level_for_share(Gaussian, 1.0, ONE, account, 1, 1, STEP, Fraction(1000))
    deviations = 1 / math.sqrt(level)
    # An account's loss alone would allow 19.9 standard deviations; numpy's normals end at 12.2.
    assert math.sqrt(2 * account.limit / account.order) > 19
    assert norm.cdf(deviations - 10) <= account.failure_limit
    assert deviations > 4.7
