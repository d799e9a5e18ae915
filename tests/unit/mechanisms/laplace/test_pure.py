"""Test Laplace noise of which only the pure epsilon is known to hold."""

import math
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from penstock.accounting import (
    Account,
    PlacedRelease,
    account_of,
    charge,
    composed_epsilon,
    level_for,
    level_for_share,
    pure_loss,
    raising,
    refinement_loss,
)
from penstock.accounting.charging.ledger import entry
from penstock.accounting.guarantees import guarantee_at
from penstock.accounting.reporting.readings import reading, readings
from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.process import DiscreteLaplace, Laplace
from penstock.mechanisms.laplace.pure import PureDiscreteLaplace, PureLaplace, purely_charged
from penstock.privacy import Definition, Sensitivity, Target, TargetKind
from penstock.randomness import Stream

STEP = Fraction(1, 1024)
MANY = Sensitivity(l1=Fraction(40), l2_squared=Fraction(40), linf=Fraction(1))
"""Forty coordinates that move by 1: their divergences add up to less than the pure epsilon's."""
ACCOUNT = account_of(4.0, 1e-6)
PURE, PLAIN = PureLaplace(STEP), Laplace(STEP)


def randomized_response(order: float, epsilon: float) -> float:
    """Return the divergence of the two answers of randomized response, from their chances."""
    yes = 1 / (1 + math.exp(-epsilon))
    moment = yes**order * (1 - yes) ** (1 - order) + (1 - yes) ** order * yes ** (1 - order)
    return math.log(moment) / (order - 1)


@pytest.mark.parametrize("order", [1.5, 2.0, 11.0, 57.0])
@pytest.mark.parametrize("level", [Fraction(400), Fraction(80), Fraction(20)])
def test_the_charge_is_that_of_randomized_response(order: float, level: Fraction) -> None:
    epsilon = float(MANY.l1 / level)
    cost = PURE.cost(level, MANY, order)
    assert cost.loss == pytest.approx(randomized_response(order, epsilon), rel=1e-9)
    assert cost.loss == pytest.approx(pure_loss(epsilon, order), rel=1e-9)
    assert cost.loss >= PLAIN.cost(level, MANY, order).loss
    assert cost.failure == 0


def test_at_delta_0_epsilons_are_charged() -> None:
    assert PURE.cost(Fraction(80), MANY, math.inf) == PLAIN.cost(Fraction(80), MANY, math.inf)
    assert PURE.cost(Fraction(80), MANY, math.inf).loss == 0.5


def test_coordinates_that_add_up_to_less_are_charged_in_full() -> None:
    level = Fraction(80)
    paid, less = (
        charge(noise, noise.plan(level, STEP, Fraction(0))[1], level, MANY, ACCOUNT, 40, 4)
        for noise in (PURE, PLAIN)
    )
    assert paid.loss == pytest.approx(randomized_response(ACCOUNT.order, 0.5), rel=1e-9)
    assert less.loss < 0.2 * paid.loss


@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-6, 1e-3])
def test_an_epsilon_is_the_pure_one_at_every_delta(delta: float) -> None:
    promise = guarantee_at(PURE, Fraction(80), MANY, delta)
    assert promise.definition is Definition.PURE
    assert promise.epsilon == pytest.approx(0.5)
    target = Target(TargetKind.EPSILON, 0.5)
    assert float(level_for(PURE, target, MANY, delta)) == pytest.approx(80, rel=1e-6)
    if delta:
        assert guarantee_at(PLAIN, Fraction(80), MANY, delta).epsilon < 0.5
        assert float(level_for(PLAIN, target, MANY, delta)) < 79


def test_no_reading_at_a_delta_is_offered() -> None:
    listed = readings(PURE, Fraction(80), MANY, 40, 1e-6)
    assert [each.name for each in listed] == ["guarantee", "pure"]
    assert [each.epsilon for each in listed] == pytest.approx([0.5, 0.5])
    with pytest.raises(InvalidInput, match="it has guarantee, pure"):
        reading("theorem", PURE, Fraction(80), MANY, 40, 1e-6)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_a_share_is_filled_by_the_pure_charge(share: float) -> None:
    one = Fraction(1)
    level = level_for_share(PureLaplace, share, MANY, ACCOUNT, 40, 4, one, Fraction(1000))
    epsilon = float(MANY.l1 / level)
    spent = randomized_response(ACCOUNT.order, epsilon) / ACCOUNT.limit
    assert spent == pytest.approx(share, rel=2e-3)
    plain = level_for_share(Laplace, share, MANY, ACCOUNT, 40, 4, one, Fraction(1000))
    assert plain < level


def raised(noise: Laplace, account: Account) -> float:
    """Return what is added when forty coordinates are seen at scale 80 after scale 160."""
    old, new = Fraction(160), Fraction(80)
    ladder = noise.plan(new, STEP, Fraction(0))[1]
    before = entry(charge(noise, ladder, old, MANY, account, 40, 4))
    added = raising(
        noise,
        ladder,
        charged=before,
        old=old,
        new=new,
        sensitivity=MANY,
        account=account,
        dimension=40,
        level_count=4,
    )
    return added.cost.loss


def test_a_raise_is_charged_for_the_whole_and_not_by_coordinates() -> None:
    whole = refinement_loss(0.25, 0.5, ACCOUNT.order)
    assert raised(PURE, ACCOUNT) == pytest.approx(whole, rel=1e-6)
    assert raised(PLAIN, ACCOUNT) < 0.5 * whole


@pytest.mark.parametrize("count", [1, 2, 5])
def test_reports_compose_randomized_responses(count: int) -> None:
    """One step of its lattice is randomized response; its profile is summed here by outcomes."""
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    placed = PlacedRelease("laplace", Fraction(1), Fraction(80) / MANY.l1, one)
    delta, epsilon = 1e-4, composed_epsilon([placed] * count, 1e-4)
    yes = 1 / (1 + math.exp(-0.5))
    profile = sum(
        math.comb(count, k)
        * yes**k
        * (1 - yes) ** (count - k)
        * max(0.0, -math.expm1(epsilon - 0.5 * (2 * k - count)))
        for k in range(count + 1)
    )
    assert profile <= delta
    assert profile > 0.9 * delta
    assert epsilon <= 0.5 * count + 1e-9


@pytest.mark.parametrize(
    ("pure", "plain"), [(PURE, PLAIN), (PureDiscreteLaplace(STEP), DiscreteLaplace(STEP))]
)
def test_the_noise_is_the_same_draw_by_draw(pure: Laplace, plain: Laplace) -> None:
    """The joint law is that of ``Laplace``, which the statistical tests compare."""
    levels = [Fraction(5), Fraction(12), Fraction(30)]
    drawn = []
    for noise in (pure, plain):
        stream = Stream.from_key(sha256(b"pure").digest())
        far = noise.increment(levels[0], levels[2], 4000, stream)
        drawn.append((far, noise.bridge(levels[0], levels[2], far, levels[1], stream)))
    for one, other in zip(*drawn, strict=True):
        assert np.array_equal(one, other)
    level, step, bound = Fraction(64), Fraction(1), Fraction(100)
    ours, theirs = (type(noise).plan(level, step, bound) for noise in (pure, plain))
    assert (ours[0].granularity, ours[1]) == (theirs[0].granularity, theirs[1])
    assert type(ours[0]) is purely_charged(type(plain))
