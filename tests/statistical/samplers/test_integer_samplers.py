"""Test the integer samplers against exact laws, in every regime they have.

Long vectors of narrow laws are drawn from tables; in pieces of ``PIECE`` values, for which tables
never pay, the same laws are drawn by rejection and by waiting times.

A smoke test: errors of 2^-40 in a probability are far below what counts can show, and are
bounded digit by digit in the unit tests.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.statistical.checks import Pmf, accept, cells_of, chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import enough, every_size, masses_over

from penstock.mechanisms import IntVector
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.binomial import binomial
from penstock.randomness.geometric import Geometric
from penstock.randomness.inversion.rows import Rows
from penstock.randomness.inversion.sums import BinomialSums
from penstock.randomness.inversion.weights import binomial_table
from penstock.randomness.poisson import poisson

LARGE = 1 << 20

PIECE = 1 << 10

RATIOS = ("0.05", "0.5", "0.9", "0.999")
MEANS = ("0.01", "1", "15.99", "16", "16.5", "31", "300", "99999.5")
TRIALS = (
    (1, "0.3"),
    (7, "0.5"),
    (31, "0.5"),
    (32, "0.5"),
    (33, "0.51"),
    (40, "0.75"),
    (160, "0.1"),
    (159, "0.1"),
    (5_000, "0.001"),
    (20_000, "0.999"),
    (100_000, "0.37"),
)


def _fits(drawn: IntVector, law: Pmf) -> float:
    cells = cells_of(law, 64)
    observed = np.bincount(cells.of(drawn), minlength=len(cells.masses))
    return chi_squared(observed, cells.masses * len(drawn))


def _size(law: Pmf, wrong: Pmf, *, large: bool) -> int:
    """Return how many values find ``wrong`` out all but certainly."""
    if large:
        return LARGE
    cells = cells_of(law, 64)
    return enough(cells.masses, masses_over(cells, wrong), LARGE)


def _off(chance: str) -> Fraction:
    """Return a chance that is off by one and a half hundredths.

    These are hundredths of itself, or of what it is short of 1.
    """
    exact = Fraction(chance)
    return exact - min(exact, 1 - exact) / 66


def _binomial_size(trials: int, chance: str, *, large: bool) -> int:
    law, wrong = (_binomial_law(trials, float(p)) for p in (Fraction(chance), _off(chance)))
    return _size(law, wrong, large=large)


def _poisson_size(mean: str, *, large: bool) -> int:
    law, wrong = _poisson_law(float(mean)), _poisson_law(float(mean) * 1.01)
    return _size(law, wrong, large=large)


def _geometric_law(ratio: float) -> Pmf:
    values = np.arange(int(40 / (1 - ratio)), dtype=np.float64)
    return Pmf(0, (1 - ratio) * ratio**values)


def _poisson_law(mean: float) -> Pmf:
    low = max(0, int(mean - 12 * mean**0.5))
    values = np.arange(low, int(mean + 12 * mean**0.5 + 30))
    return Pmf(low, stats.poisson.pmf(values, mean))


def _binomial_law(trials: int, chance: float) -> Pmf:
    return Pmf(0, stats.binom.pmf(np.arange(trials + 1), trials, chance))


@pytest.mark.parametrize("ratio", RATIOS)
def test_geometric_draws_follow_their_law(ratio: str) -> None:
    stream = keyed_streams(f"geometric/{ratio}")()
    drawn = Geometric.of(Decimal(ratio)).draw(LARGE, stream)
    accept(_fits(drawn, _geometric_law(float(ratio))), f"geometric {ratio}")


def test_a_digit_that_is_a_fair_coin_is_found_out() -> None:
    digits = list(Geometric.of(Decimal("0.999")).digits)
    digits[6] = CERTAIN // 2
    drawn = Geometric(tuple(digits), 0).draw(LARGE, keyed_streams("a fair digit")())
    assert rejects(_fits(drawn, _geometric_law(0.999)))


def _in_pieces(draw: Callable[[int], IntVector], size: int) -> IntVector:
    return np.concatenate([draw(min(PIECE, size - start)) for start in range(0, size, PIECE)])


@every_size
@pytest.mark.parametrize("mean", MEANS)
def test_poisson_draws_follow_their_law(mean: str, *, large: bool) -> None:
    size = _poisson_size(mean, large=large)
    drawn = poisson(Fraction(mean), size, keyed_streams(f"poisson/{mean}")())
    accept(_fits(drawn, _poisson_law(float(mean))), f"poisson {mean}")


@every_size
@pytest.mark.parametrize("mean", MEANS)
def test_poisson_draws_of_short_vectors_follow_their_law(mean: str, *, large: bool) -> None:
    size, stream = _poisson_size(mean, large=large), keyed_streams(f"short poisson/{mean}")()
    drawn = _in_pieces(lambda count: poisson(Fraction(mean), count, stream), size)
    accept(_fits(drawn, _poisson_law(float(mean))), f"short poisson {mean}")


@every_size
@pytest.mark.parametrize("mean", MEANS[1:])
def test_one_percent_more_of_a_poisson_mean_is_found_out(mean: str, *, large: bool) -> None:
    more, size = Fraction(mean) * Fraction(101, 100), _poisson_size(mean, large=large)
    drawn = poisson(more, size, keyed_streams(f"more poisson/{mean}")())
    assert rejects(_fits(drawn, _poisson_law(float(mean))))


@every_size
@pytest.mark.parametrize(("trials", "chance"), TRIALS)
def test_binomial_draws_follow_their_law(trials: int, chance: str, *, large: bool) -> None:
    stream = keyed_streams(f"binomial/{trials}/{chance}")()
    size = _binomial_size(trials, chance, large=large)
    drawn = binomial(np.full(size, trials, dtype=np.int64), Fraction(chance), stream)
    accept(_fits(drawn, _binomial_law(trials, float(chance))), f"binomial {trials} {chance}")


@every_size
@pytest.mark.parametrize(("trials", "chance"), TRIALS)
def test_binomial_draws_of_short_vectors_follow_their_law(
    trials: int, chance: str, *, large: bool
) -> None:
    stream = keyed_streams(f"short binomial/{trials}/{chance}")()
    size, p = _binomial_size(trials, chance, large=large), Fraction(chance)
    drawn = _in_pieces(lambda count: binomial(np.full(count, trials), p, stream), size)
    law = _binomial_law(trials, float(chance))
    accept(_fits(drawn, law), f"short binomial {trials} {chance}")


def test_a_sum_without_its_last_digit_is_found_out() -> None:
    trials = np.full(LARGE >> 4, 403, dtype=np.int64)
    sums, drawn = BinomialSums(0, 403, 3, Fraction(1, 3)), np.empty_like(trials)
    sums.fill(trials, drawn, keyed_streams("all digits")())
    law = _binomial_law(403, 1 / 3)
    accept(_fits(drawn, law), "binomial as a sum")
    sums._rest = Rows([binomial_table(0, Fraction(1, 3))] * 8)
    sums.fill(trials, drawn, keyed_streams("no last digit")())
    assert rejects(_fits(drawn, law))


@every_size
@pytest.mark.parametrize(("trials", "chance"), TRIALS[1:])
def test_a_binomial_chance_that_is_off_by_a_hundredth_is_found_out(
    trials: int, chance: str, *, large: bool
) -> None:
    stream = keyed_streams(f"other binomial/{trials}/{chance}")()
    size = _binomial_size(trials, chance, large=large)
    drawn = binomial(np.full(size, trials, dtype=np.int64), _off(chance), stream)
    assert rejects(_fits(drawn, _binomial_law(trials, float(chance))))


def test_trials_of_all_sizes_in_one_vector_keep_their_laws() -> None:
    sizes = (3, 40, 200, 9_000)
    trials = np.tile(np.array(sizes, dtype=np.int64), LARGE // 16)
    drawn = binomial(trials, Fraction(1, 8), keyed_streams("mixed trials")())
    for i, size in enumerate(sizes):
        accept(_fits(drawn[i::4], _binomial_law(size, 0.125)), f"binomial {size} among others")
