"""Test accounts at delta 0: what they admit, and what they say when they are short."""

from fractions import Fraction

import pytest

from penstock.accounting import Entry, account_of, charge, check, entry, require_admitted, total
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS, Laplace
from penstock.privacy import Sensitivity

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
PURE = account_of(1.0, 0.0)


@pytest.mark.parametrize("name", ["gaussian", "poisson", "skellam", "generalized_gaussian"])
def test_noise_that_is_not_pure_is_refused_by_name(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"; {name} noise breaks every epsilon"):
        require_admitted(name, 0.0)
    require_admitted(name, 1e-6)
    require_admitted("laplace", 0.0)


@pytest.mark.parametrize("name", ["gaussian", "poisson", "skellam"])
def test_nothing_else_is_charged_there(name: str) -> None:
    mechanism, ladder = MECHANISMS[name].plan(Fraction(1000), Fraction(1), Fraction(10))
    with pytest.raises(InvalidInput, match=name):
        charge(mechanism, ladder, Fraction(1000), ONE, PURE, 1, 8)


def test_sixteen_sixteenths_of_epsilon_fit_and_another_does_not() -> None:
    mechanism, ladder = Laplace.plan(Fraction(16), Fraction(1), Fraction(10))
    sixteenth = entry(charge(mechanism, ladder, Fraction(16), ONE, PURE, 10, 8))
    assert sixteenth.failure == 0
    assert check(PURE, total([sixteenth] * 15), sixteenth) is None
    short = check(PURE, total([sixteenth] * 16), sixteenth)
    assert short is not None
    assert short.largest_share == 0
    assert short.explanation().startswith("An epsilon of 0.0625 is needed")


def test_no_failure_probability_fits() -> None:
    short = check(PURE, Entry(0, 0), Entry(0, 1))
    assert short is not None
    assert short.largest_share == 0
