"""Test tables of Poisson and binomial laws against 110 digits, and what they cost."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest

from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.inversion import Table, weights
from penstock.randomness.inversion.weights import (
    ERROR,
    MOST_ENTRIES,
    binomial_table,
    entries,
    pays,
    poisson_table,
)

POISSON = (Fraction(1, 1 << 20), Fraction(7, 3), Fraction(16), Fraction(3001, 10), Fraction(12_345))
BINOMIAL = (
    (0, Fraction(1, 3)),
    (1, Fraction(1, 7)),
    (31, Fraction(1, 2)),
    (300, Fraction(1, 3)),
    (20_000, Fraction(1, 1000)),
    (10_000, Fraction(1, 2) - Fraction(1, 3**30)),
)


def _poisson(mean: Fraction) -> Callable[[int], mpmath.mpf]:
    m = mpmath.mpf(mean.numerator) / mean.denominator
    return lambda k: mpmath.exp(k * mpmath.log(m) - m - mpmath.loggamma(k + 1))


def _binomial(trials: int, chance: Fraction) -> Callable[[int], mpmath.mpf]:
    p = mpmath.mpf(chance.numerator) / chance.denominator
    return lambda k: mpmath.binomial(trials, k) * p**k * (1 - p) ** (trials - k)


def _distance(table: Table, law: Callable[[int], mpmath.mpf]) -> mpmath.mpf:
    """Return the total variation between a table and a law, whose mass outside counts too."""
    ends = [0, *table.thresholds, CERTAIN]
    drawn = [mpmath.mpf(end - begin) / CERTAIN for begin, end in itertools.pairwise(ends)]
    exact = [law(table.least + place) for place in range(len(drawn))]
    inside = sum((abs(one - other) for one, other in zip(drawn, exact, strict=True)), mpmath.mpf(0))
    return (inside + abs(1 - mpmath.fsum(exact))) / 2


@pytest.mark.parametrize("mean", POISSON, ids=float)
def test_poisson_tables_are_within_the_stated_distance(mean: Fraction) -> None:
    with mpmath.workdps(110):
        assert _distance(poisson_table(mean), _poisson(mean)) < ERROR


@pytest.mark.parametrize(("trials", "chance"), BINOMIAL)
def test_binomial_tables_are_within_the_stated_distance(trials: int, chance: Fraction) -> None:
    with mpmath.workdps(110):
        assert _distance(binomial_table(trials, chance), _binomial(trials, chance)) < ERROR


@pytest.mark.parametrize("fault", ["a mean that is a float", "weights cut too early"])
def test_a_table_of_floats_or_without_tails_is_not(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mean = Fraction(3001, 10)
    if fault == "weights cut too early":
        monkeypatch.setattr(weights, "_LEAST", 1 << 120)
        table = poisson_table(mean)
    else:
        table = poisson_table(Fraction(float(mean)))
    with mpmath.workdps(110):
        assert _distance(table, _poisson(mean)) > ERROR


@pytest.mark.parametrize("mean", [1, 16, 300, 12_345, 900_000])
def test_tables_have_no_more_entries_than_is_reckoned(mean: int) -> None:
    assert len(poisson_table(Fraction(mean)).thresholds) <= entries(mean)
    assert len(binomial_table(2 * mean, Fraction(1, 2)).thresholds) <= entries(mean / 2)


def test_tables_pay_for_long_vectors_of_narrow_laws() -> None:
    assert pays(Fraction(300), 1 << 16)
    assert not pays(Fraction(300), 256)
    assert not pays(Fraction(1 << 40), 1 << 30)
    assert entries(1 << 40) > MOST_ENTRIES
