"""Test Laplace noise on the lattice of the values: plans, promises, charges at few steps."""

import itertools
import math
from fractions import Fraction

import pytest

from penstock.accounting import account_of, charge, entry, level_for, level_for_share, raising
from penstock.errors import InvalidInput
from penstock.mechanisms import Laplace
from penstock.mechanisms.laplace.process import DiscreteLaplace
from penstock.privacy import Sensitivity, Target, TargetKind

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
FOUR = Sensitivity(Fraction(4), Fraction(16), Fraction(4))
BOUND = Fraction(10**6)


def test_integers_have_granularity_one_and_others_that_of_their_step() -> None:
    for ceiling in (Fraction(1, 2), Fraction(10), Fraction(10**5)):
        mechanism, ladder = DiscreteLaplace.plan(ceiling, Fraction(1), BOUND)
        assert mechanism.granularity == 1
        assert ladder.value(0) <= ceiling / 8 <= ladder.value(1)
        assert ladder.value(ladder.last) > ceiling
    assert DiscreteLaplace.plan(Fraction(10), Fraction(3, 4), BOUND)[0].granularity == Fraction(
        1, 4
    )
    assert Laplace.plan(Fraction(10), Fraction(1), BOUND)[0].granularity == Fraction(1, 1 << 10)


def test_rungs_next_to_each_other_are_apart_also_at_small_scales() -> None:
    mechanism, ladder = DiscreteLaplace.plan(Fraction(1, 32), Fraction(1), BOUND)
    values = [ladder.value(rung) for rung in range(200)]
    assert all(low < high for low, high in itertools.pairwise(values))
    assert mechanism.guarantee(Fraction(1, 32), ONE, 0.0).epsilon == 32


@pytest.mark.parametrize(
    ("ceiling", "bound"), [(Fraction(1, 33), 1), (Fraction(0), 1), (Fraction(1), -1)]
)
def test_plans_that_cannot_be_are_refused(ceiling: Fraction, bound: int) -> None:
    with pytest.raises(InvalidInput, match="lattice of the values"):
        DiscreteLaplace.plan(ceiling, Fraction(1), Fraction(bound))


@pytest.mark.parametrize(
    ("order", "scale", "sensitivity", "loss"),
    [
        (4.0, Fraction(1), ONE, 0.895883),
        (11.0, Fraction(2), ONE, 0.452595),
        (2.0, Fraction(4), FOUR, 0.628588),
    ],
)
def test_the_charge_is_that_of_the_lattice(
    order: float, scale: Fraction, sensitivity: Sensitivity, loss: float
) -> None:
    few = DiscreteLaplace(Fraction(1)).cost(scale, sensitivity, order).loss
    many = Laplace(Fraction(1, 1 << 12)).cost(scale, sensitivity, order).loss
    assert few == pytest.approx(loss, abs=5e-7)
    assert many < few < float(sensitivity.l1 / scale)


def test_one_step_costs_a_tenth_more_than_the_continuous_law() -> None:
    epsilon, order = 0.5, 2.0
    few = DiscreteLaplace(Fraction(1)).cost(Fraction(2), ONE, order).loss
    many = Laplace(Fraction(1, 1 << 14)).cost(Fraction(2), ONE, order).loss
    assert 1.05 < few / many < 1.2
    assert few < epsilon


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_levels_are_found_on_that_lattice(delta: float) -> None:
    template = DiscreteLaplace(Fraction(1))
    level = level_for(template, Target(TargetKind.EPSILON, 0.5), ONE, delta)
    assert level == 2
    wide = level_for(template, Target(TargetKind.HALF_WIDTH, 10.0), ONE, delta)
    assert template.error(wide, 0.95).half_width == 10
    account = account_of(1.0, delta)
    shared = level_for_share(DiscreteLaplace, 0.25, ONE, account, 8, 16, Fraction(1), BOUND)
    planned = DiscreteLaplace.plan(shared, Fraction(1), BOUND)
    assert charge(*planned, shared, ONE, account, 8, 16).loss <= account.limit / 4


def test_at_infinite_order_a_raise_costs_the_difference() -> None:
    account = account_of(10.0, 0.0)
    mechanism, ladder = DiscreteLaplace.plan(Fraction(1, 2), Fraction(1), BOUND)
    old, new = Fraction(4), Fraction(1, 2)
    charged = entry(charge(mechanism, ladder, old, FOUR, account, 3, 16))
    more = raising(
        mechanism,
        ladder,
        charged=charged,
        old=old,
        new=new,
        sensitivity=FOUR,
        account=account,
        dimension=3,
        level_count=16,
    )
    assert charged.cost.loss == pytest.approx(1, abs=1e-11)
    assert (charged + more).cost.loss == pytest.approx(8, abs=1e-11)
    assert more.failure == 0
    assert math.isinf(account.order)
