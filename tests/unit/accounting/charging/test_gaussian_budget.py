"""Test squared mu: what discrete Gaussian noise loses, alone and chosen one after another, by sums.

Sums over the lattice with 40 digits: nothing is drawn, so that nothing depends on chance.
"""

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.unit.accounting.lattice_laws import Law, curve, gained, law

from penstock.accounting import (
    NOTHING,
    Account,
    account_of,
    check,
    entry,
    gaussian_account_of,
    gaussian_charge,
    gaussian_level_for_share,
    gaussian_refinement,
    level_for_share,
    share_of,
)
from penstock.accounting.charging.gaussian_budget import SMOOTHING, smoothing_error
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS, Gaussian, Laplace
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.mechanisms.process import Mechanism
from penstock.privacy import Sensitivity

ONE = Fraction(1)
PERSON = Sensitivity(l1=ONE, l2_squared=ONE, linf=ONE)
FOUR = Sensitivity(l1=Fraction(4), l2_squared=Fraction(4), linf=ONE)
DIGITS = 40
Claim = Callable[[mpf, mpf, mpf, mpf], mpf]


def claimed(variance: mpf, shift_squared: mpf, smoothing: mpf, epsilon: mpf) -> mpf:
    """Return what is claimed of one draw: the real release's delta, by laws that are this close."""
    apart = mpf(smoothing_error(float(smoothing)))
    mu = mp.sqrt(shift_squared / (variance - smoothing**2))
    return mp.exp(apart) * curve(epsilon - 2 * apart, mu)


def of_its_own_variance(variance: mpf, shift_squared: mpf, smoothing: mpf, epsilon: mpf) -> mpf:
    """Ignore the lattice: a broken claim."""
    return curve(epsilon, mp.sqrt(shift_squared / variance))


def of_half_the_shift(variance: mpf, shift_squared: mpf, smoothing: mpf, epsilon: mpf) -> mpf:
    """Take mu of half the shift: a broken claim."""
    return claimed(variance, shift_squared / 4, smoothing, epsilon)


def of_a_larger_variance(variance: mpf, shift_squared: mpf, smoothing: mpf, epsilon: mpf) -> mpf:
    """Add the variance that is smoothed away: a broken claim."""
    return claimed(variance + 2 * smoothing**2, shift_squared, smoothing, epsilon)


DEVIATIONS = ("0.8", "1", "1.5", "2", "3.5", "8")
SHIFTS = (1, 2, 5)
SMOOTHINGS = ("0.35", "0.5", "0.7")
"""Parts of the deviation."""

ROUNDED = mpf(10) ** -30
"""Far more than what lies beyond the reach, and than the last of the digits."""

EPSILONS = ("0.05", "0.5", "1", "2.5", "6")


def violations(claim: Claim) -> Sequence[tuple[str, ...]]:
    """Return where discrete Gaussians lose more than ``claim`` says, at any allowed smoothing."""
    found = []
    for deviation, shift in itertools.product(DEVIATIONS, SHIFTS):
        d = mpf(deviation)
        here, moved = law(d), law(d, shift)
        for epsilon in EPSILONS:
            exact = gained(here, moved, mpf(epsilon))
            found += [
                (deviation, str(shift), epsilon, part)
                for part in SMOOTHINGS
                if exact > claim(d**2, mpf(shift) ** 2, d * mpf(part), mpf(epsilon)) + ROUNDED
            ]
    return found


def test_no_discrete_gaussian_loses_more_than_the_real_one_behind_it() -> None:
    with mp.workdps(DIGITS):
        assert violations(claimed) == []


@pytest.mark.parametrize(
    "broken",
    [of_its_own_variance, of_half_the_shift, of_a_larger_variance],
    ids=lambda f: f.__name__,
)
def test_claims_that_pass_the_lattice_or_the_shift_over_are_found_out(broken: Claim) -> None:
    with mp.workdps(DIGITS):
        assert violations(broken)


def test_two_values_that_move_at_once_lose_what_their_length_says() -> None:
    with mp.workdps(DIGITS):
        d, smoothing = mpf(2), mpf(1)
        here, moved, twice = law(d), law(d, 1), law(d, 2)

        def pairs(first: Law, second: Law) -> dict[int, mpf]:
            return {x * 10**6 + y: p * q for x, p in first.items() for y, q in second.items()}

        apart = mpf(2 * smoothing_error(1.0))
        for epsilon in map(mpf, ("0.2", "1", "3")):
            exact = gained(pairs(here, here), pairs(moved, twice), epsilon)
            mu = mp.sqrt(5 / (d**2 - smoothing**2))
            assert exact <= mp.exp(apart) * curve(epsilon - 2 * apart, mu)
            assert exact > curve(epsilon, mp.sqrt(4 / d**2))


@pytest.mark.parametrize("steps", ["0.3", "0.5", "1", "1.94", "4"])
def test_a_normalizer_is_within_theta_of_the_real_one_around_any_center(steps: str) -> None:
    with mp.workdps(160):
        s = mpf(steps)
        reach = int(28 * s) + 3
        errors = [
            mp.fsum(mp.exp(-((x - c) ** 2) / (2 * s**2)) for x in range(-reach, reach + 1))
            / (s * mp.sqrt(2 * mp.pi))
            - 1
            for c in map(mpf, ("0", "0.1", "0.25", "0.5"))
        ]
        apart = mpf(smoothing_error(float(steps)))
        assert max(mp.log1p(abs(e)) - mp.log1p(-abs(e)) for e in errors) <= apart
        assert min(errors) < 0 < max(errors)
        assert max(abs(e) for e in errors) > apart / 5


@pytest.mark.parametrize("center", [0.0, 0.3, -7.5])
def test_a_randomized_reading_of_a_real_release_is_a_discrete_one(center: float) -> None:
    """The two laws of the proof, the first by an integral over the real release.

    The trapezoidal rule is as good as the floats here: the integrand is smooth and its ends
    are below 1e-17.
    """
    narrow, whole = 0.45, 1.1
    real = np.linspace(center - 12, center + 12, 4001)
    points = np.arange(round(center) - 20, round(center) + 21)
    weights = np.exp(-((points[:, None] - real) ** 2) / (2 * narrow**2))
    discrete = np.exp(-((points - center) ** 2) / (2 * whole**2))
    near = abs(points - center) < 5

    def apart(spread: float) -> float:
        density = np.exp(-((real - center) ** 2) / (2 * spread)) / math.sqrt(2 * math.pi * spread)
        read = np.trapezoid(density * weights / weights.sum(axis=0), real, axis=1)
        return float(np.max(abs(np.log(read / (discrete / discrete.sum())))[near]))

    bound = smoothing_error(narrow)
    assert bound / 100 < apart(whole**2 - narrow**2) <= bound
    # A real release of the same variance is another law.
    assert apart(whole**2) > 10 * bound


def both_of(deviations: Sequence[mpf]) -> tuple[Law, Law]:
    """Return the joint laws of several releases, on data a step apart."""
    here, moved = {0: mpf(1)}, {0: mpf(1)}
    for deviation in deviations:
        one, other = law(deviation), law(deviation, 1)
        here = {x * 10**4 + y: p * q for x, p in here.items() for y, q in one.items()}
        moved = {x * 10**4 + y: p * q for x, p in moved.items() for y, q in other.items()}
    return here, moved


def adaptively(
    first: mpf, chosen: Callable[[int], str], ways: Mapping[str, Sequence[mpf]]
) -> tuple[Law, Law]:
    """Return joint laws of a release and of those chosen by it, one after the other."""
    laws = {name: both_of(deviations) for name, deviations in ways.items()}
    here, moved = (
        {
            x * 10**9 + o: p * q
            for x, p in law(first, data).items()
            for o, q in laws[chosen(x)][data].items()
        }
        for data in (0, 1)
    )
    return here, moved


def test_releases_that_are_chosen_by_what_was_seen_lose_what_their_squares_add_up_to() -> None:
    """After a noisy release one narrow one, two wider ones or none at all, of as much."""
    with mp.workdps(25):
        first, whole = mpf("0.2"), mpf("0.5")

        def deviation(square: mpf) -> mpf:
            return mp.sqrt(1 / square + 1)

        def chosen(seen: int) -> str:
            return "one" if seen <= -1 else "two" if seen <= 2 else "none"

        left = whole - first
        ways = {"one": [deviation(left)], "two": [deviation(left / 2)] * 2, "none": []}
        here, moved = adaptively(deviation(first), chosen, ways)
        # Three draws at most, each smoothed by one step.
        apart = 3 * mpf(smoothing_error(1.0))
        for epsilon in map(mpf, ("0.3", "1.2")):
            exact = gained(here, moved, epsilon)
            assert exact <= mp.exp(apart) * curve(epsilon - 2 * apart, mp.sqrt(whole))
            # The largest of the squares would not do in place of their sum.
            assert exact > curve(epsilon, mp.sqrt(left))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 6.0, 60.0, 1e4])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_an_account_grants_the_largest_square_that_implies_its_budget(
    epsilon: float, delta: float
) -> None:
    account = gaussian_account_of(epsilon, delta)
    kept = 0.9 * delta
    assert account.failure_limit == pytest.approx(delta / 10)
    assert delta_at(epsilon, math.sqrt(account.limit)) <= kept
    assert delta_at(epsilon, math.sqrt(account.limit) * 1.0001) > kept


def test_variances_are_an_eighth_smaller_than_in_an_account_of_renyi_losses() -> None:
    saved = []
    for epsilon in (0.1, 0.5, 1.0, 3.0):
        asked = (PERSON, 8, 30, ONE, Fraction(10**6))
        ours = gaussian_level_for_share(1, asked[0], gaussian_account_of(epsilon, 1e-6), *asked[1:])
        theirs = level_for_share(Gaussian, 1, asked[0], account_of(epsilon, 1e-6), *asked[1:])
        saved.append(float(theirs / ours))
    assert saved == pytest.approx([1.180, 1.159, 1.149, 1.133], abs=0.002)


@pytest.mark.parametrize("sensitivity", [PERSON, FOUR])
def test_a_charge_is_that_of_the_real_release_and_of_every_draw(sensitivity: Sensitivity) -> None:
    account = gaussian_account_of(2.0, 1e-6)
    for granularity, variance in ((ONE, 2**16), (ONE / 2**12, 30)):
        gaussian = Gaussian(granularity)
        _, ladder = Gaussian.plan(Fraction(variance), ONE, Fraction(10**6))
        cost = gaussian_charge(gaussian, ladder, Fraction(variance), sensitivity, account, 8, 30)
        real = Fraction(variance) - (SMOOTHING * granularity) ** 2
        exact = sensitivity.l2_squared / real
        assert exact <= cost.loss <= float(exact) * (1 + 1e-15)
        inflation = 1 + math.exp(2.0)
        assert cost.failure >= inflation * math.sqrt(8 * 30) * 2.0**-40
        assert cost.failure == pytest.approx(inflation * math.sqrt(8 * 30) * 2.0**-40, rel=1e-6)


def test_the_lattices_part_is_charged_and_is_next_to_nothing() -> None:
    assert 0 < smoothing_error(SMOOTHING) < 1e-136
    assert smoothing_error(0.1) == math.inf


def test_a_refinement_costs_the_difference_and_the_lattices_part_of_it() -> None:
    account = gaussian_account_of(2.0, 1e-6)
    gaussian, ladder = Gaussian.plan(Fraction(25), ONE, Fraction(10**6))
    old, new = Fraction(100), Fraction(25)

    def refined(old: Fraction, new: Fraction) -> float:
        return gaussian_refinement(
            gaussian,
            ladder,
            old=old,
            new=new,
            sensitivity=PERSON,
            account=account,
            dimension=4,
            level_count=10,
        ).loss

    before = gaussian_charge(gaussian, ladder, old, PERSON, account, 4, 10).loss
    whole = gaussian_charge(gaussian, ladder, new, PERSON, account, 4, 10).loss
    assert whole <= before + refined(old, new) <= whole * (1 + 1e-6)
    assert refined(old, new) > 1 / 25 - 1 / 100
    with pytest.raises(InvalidInput, match="not a smaller variance"):
        refined(new, old)


def test_given_an_old_release_a_refinement_loses_what_it_is_charged() -> None:
    """The new release's law given the old one's value, for neighbors a step apart."""
    with mp.workdps(DIGITS):
        old, new, smoothing = mpf(12), mpf(5), mpf("0.9")
        told = 1 - new / old
        apart = mpf(smoothing_error(0.9))
        mu = told / mp.sqrt(new * told - smoothing**2)
        for seen in (0, 3, -8):
            laws = []
            for data in (0, 1):
                anchor, step = law(mp.sqrt(new), data), law(mp.sqrt(old - new))
                joint = {x: p * step.get(seen - x, mpf(0)) for x, p in anchor.items()}
                whole = mp.fsum(joint.values())
                laws.append({x: p / whole for x, p in joint.items()})
            for epsilon in map(mpf, ("0.1", "0.8")):
                exact = gained(laws[0], laws[1], epsilon)
                assert exact <= mp.exp(apart) * curve(epsilon - 2 * apart, mu)
                assert exact > curve(epsilon, 0.9 * told / mp.sqrt(new * told))


def test_what_is_not_proved_is_refused_by_name() -> None:
    account = gaussian_account_of(1.0, 1e-6)
    for kind in MECHANISMS.values():
        if kind is Gaussian or kind.name == "generalized_gaussian":
            continue
        mechanism, ladder = kind.plan(Fraction(2**12), ONE, Fraction(1000))
        with pytest.raises(InvalidInput, match=f"no mu is proved for {kind.name} noise"):
            gaussian_charge(mechanism, ladder, ladder.value(0), PERSON, account, 1, 1)
    laplace, ladder = Laplace.plan(Fraction(5), ONE, Fraction(1000))
    with pytest.raises(InvalidInput, match="laplace noise"):
        gaussian_refinement(
            laplace,
            ladder,
            old=Fraction(9),
            new=Fraction(5),
            sensitivity=PERSON,
            account=account,
            dimension=1,
            level_count=1,
        )


def test_noise_too_narrow_for_its_lattice_and_budgets_without_delta_are_refused() -> None:
    account = gaussian_account_of(1.0, 1e-6)
    _, ladder = Gaussian.plan(Fraction(63), ONE, Fraction(1000))
    with pytest.raises(InvalidInput, match=r"too narrow.*64 is the least"):
        gaussian_charge(Gaussian(ONE), ladder, Fraction(63), PERSON, account, 1, 1)
    gaussian_charge(Gaussian(ONE), ladder, Fraction(64), PERSON, account, 1, 1)
    with pytest.raises(InvalidInput, match=r"delta above 0.*laplace"):
        gaussian_account_of(1.0, 0.0)
    for epsilon, delta in ((0.0, 1e-6), (-1.0, 1e-6), (math.nan, 1e-6), (1.0, 1.0)):
        with pytest.raises(InvalidInput):
            gaussian_account_of(epsilon, delta)


@pytest.mark.parametrize("share", [1, 0.37, 1e-4])
def test_a_share_is_used_up_by_the_least_variance_that_fits(share: float) -> None:
    account = gaussian_account_of(1.0, 1e-6)
    level = gaussian_level_for_share(share, FOUR, account, 1, 3, ONE, Fraction(10**6))

    def made(variance: Fraction) -> int:
        gaussian, ladder = Gaussian.plan(variance, ONE, Fraction(10**6))
        return entry(gaussian_charge(gaussian, ladder, variance, FOUR, account, 1, 3)).loss

    assert made(level) <= share_of(account, share).loss < made(level * (1 - Fraction(1, 10**6)))


@pytest.mark.parametrize("share", [0, -1, 1.5, math.nan])
def test_a_share_that_cannot_be_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="above 0 and at most 1"):
        gaussian_level_for_share(
            share, PERSON, gaussian_account_of(1.0, 1e-6), 1, 1, ONE, Fraction(100)
        )


def test_a_share_that_the_sampler_alone_exceeds_is_refused_with_the_numbers() -> None:
    account = gaussian_account_of(20.0, 1e-6)
    with pytest.raises(InvalidInput, match=r"0\.00684.*Rényi"):
        gaussian_level_for_share(1, PERSON, account, 8, 30, ONE, Fraction(10**6))


def test_the_levels_that_a_refused_share_could_have_are_told_and_fit() -> None:
    account = gaussian_account_of(8.0, 1e-6)
    with pytest.raises(InvalidInput, match="ask for max_levels") as refused:
        gaussian_level_for_share(1, PERSON, account, 2, 1024, ONE, Fraction(10**6))
    told = re.search("max_levels ([0-9]+) or fewer", refused.value.detail)
    assert told is not None
    fits = int(told[1])
    assert gaussian_level_for_share(1, PERSON, account, 2, fits, ONE, Fraction(10**6)) < 1
    with pytest.raises(InvalidInput, match=f"max_levels {fits} or fewer"):
        gaussian_level_for_share(1, PERSON, account, 2, fits + 1, ONE, Fraction(10**6))


def test_charges_fill_an_account_and_no_further_one_is_let_in() -> None:
    account: Account = gaussian_account_of(1.0, 1e-6)
    spent, shares = NOTHING, (0.5, 0.3, 0.2)
    for share in shares:
        level = gaussian_level_for_share(share, PERSON, account, 1, 1, ONE, Fraction(10**6))
        gaussian: Mechanism
        gaussian, ladder = Gaussian.plan(level, ONE, Fraction(10**6))
        cost = entry(gaussian_charge(gaussian, ladder, level, PERSON, account, 1, 1))
        assert check(account, spent, cost) is None
        spent += cost
    shortfall = check(account, spent, cost)
    assert shortfall is not None
    assert shortfall.explanation().startswith("A squared mu of 0.0110")
