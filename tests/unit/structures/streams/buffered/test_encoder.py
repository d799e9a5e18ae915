"""Test the encoder of buffered noise: its table, its figures, and the norms of its columns."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import gammaln
from tests.unit.structures.streams.buffered.exact_matrices import decoder, strategy

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian
from penstock.privacy import Sensitivity
from penstock.structures.factorization.square_root import column_square
from penstock.structures.streams.buffered.encoder import LONGEST, columns, encoder, last_entry
from penstock.structures.streams.buffered.errors import squares
from penstock.structures.streams.comparison import compare

ROWS = [1 << power for power in range(10, 41, 3)]
"""The longest streams of each row of the table."""

every_row = pytest.mark.parametrize("length", ROWS)
UNIT = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


def largest_variance(length: int, step: int | None = None) -> float:
    """Return the variance of an output at rho 1, the last one unless ``step`` is given."""
    matrix = encoder(length)
    return float(columns(matrix, 1).l2_squared) * squares(matrix, step or length)[0] / 2


def fitted(length: int, buffers: int) -> NDArray[np.float64]:
    """Return the weights that non-negative least squares finds, relative to the coefficients."""
    places = np.round(np.geomspace(64, length - 1, 600))
    j = np.unique(np.concatenate([np.arange(1.0, 65), places]))
    target = np.exp(gammaln(j + 0.5) - gammaln(j + 1) - np.log(np.pi) / 2)
    kept = 1 - 2.0 ** -np.arange(1, 3 * buffers, 3)
    return nnls(kept ** (j[:, None] - 1) / target[:, None], np.ones(len(j)))[0]


@every_row
def test_the_table_is_what_least_squares_finds(length: int) -> None:
    matrix = encoder(length)
    found = fitted(length, len(matrix.exponents))
    assert np.array([float(w) for w in matrix.weights]) == pytest.approx(found, rel=2e-3)
    assert all(1 << 9 <= numerator < 1 << 10 for numerator in matrix.numerators)


@every_row
def test_entries_are_log_convex_from_the_first_on(length: int) -> None:
    first, second, third = strategy(encoder(length), 3)
    assert first * third >= second**2
    assert second <= first


@pytest.mark.parametrize("length", [encoder(1 << 10).length, 1 << 13])
def test_the_decoder_is_positive_and_decreases(length: int) -> None:
    entries = decoder(encoder(length), 60)
    assert all(entry > 0 for entry in entries)
    assert all(later <= entry for entry, later in pairwise(entries))


def test_the_error_is_that_of_the_square_root_with_few_buffers() -> None:
    for power, buffers, most in ((16, 6, 10.61), (20, 8, 15.04)):
        assert len(encoder(1 << power).exponents) == buffers
        assert largest_variance(1 << power) < most
    for power in range(10, 21):
        root = column_square(1 << power) ** 2 / 2
        assert largest_variance(1 << power) < 1.004 * root


def test_without_an_end_the_error_is_a_quarter_of_that_of_epochs() -> None:
    epochs = [
        option.largest_variance
        for option in compare(None, Gaussian, 1.0, UNIT)
        if option.structure == "epochs"
    ]
    assert len(encoder(None).exponents) == 14
    assert largest_variance(LONGEST, 1 << 20) == pytest.approx(27.1, abs=0.05)
    assert min(epochs) > 3.5 * largest_variance(LONGEST, 1 << 20)


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_no_columns_weigh_more_than_the_first_ones(length: int, count: int) -> None:
    entries = strategy(encoder(length), length)
    moves = [
        [
            sum(
                (s * entries[row - p] for p, s in zip(places, signs, strict=True) if row >= p),
                Fraction(0),
            )
            for row in range(length)
        ]
        for places in combinations(range(length), min(count, length))
        for signs in product((-1, 1), repeat=len(places))
    ]
    most, tiny = columns(encoder(length), count), Fraction(1, 1 << 200)
    assert 0 <= most.l1 - max(sum(map(abs, move)) for move in moves) < tiny
    assert 0 <= most.l2_squared - max(sum(x**2 for x in move) for move in moves) < tiny
    assert 0 <= most.linf - max(max(map(abs, move)) for move in moves) < tiny


@pytest.mark.parametrize("count", [1, 5, 300, 600])
def test_norms_are_those_of_a_sum_over_every_row(count: int) -> None:
    matrix = encoder(600)
    column = [float(entry) for entry in strategy(matrix, 600)]
    together = np.cumsum(column)
    together[count:] -= together[:-count].copy()
    most = columns(matrix, count)
    assert float(most.l1) == pytest.approx(together.sum(), rel=1e-12)
    assert float(most.l2_squared) == pytest.approx(np.square(together).sum(), rel=1e-12)
    assert float(most.linf) == pytest.approx(together.max(), rel=1e-12)


def test_norms_over_the_whole_horizon_are_those_of_their_integral() -> None:
    """Blocks of rows over which an entry moves by a thousandth, in floats, from both sides."""
    matrix = encoder(None)
    ends = np.unique(np.concatenate([np.arange(4097), np.geomspace(4096, LONGEST, 40000) // 1]))
    powers = ends[:-1], ends[1:] - 1
    weights = np.array([float(w) for w in matrix.weights])
    rates = np.log1p(-(2.0 ** -np.array(matrix.exponents)))
    above, below = (
        np.where(rows == 0, 1.0, np.exp(np.outer(rows - 1, rates)) @ weights) for rows in powers
    )
    sizes = np.diff(ends)
    most = columns(matrix, 1)
    assert below @ sizes <= float(most.l1) <= above @ sizes <= 1.002 * (below @ sizes)
    low, high = (np.square(entries) @ sizes for entries in (below, above))
    assert low <= float(most.l2_squared) <= high <= 1.002 * low


def test_the_last_entry_is_not_above_the_true_one() -> None:
    matrix = encoder(50)
    true = strategy(matrix, 50)[-1]
    assert 0 <= true - last_entry(matrix) < Fraction(1, 1 << 200)
    assert last_entry(encoder(1)) == 1


@pytest.mark.parametrize("length", [0, LONGEST + 1])
def test_lengths_that_have_no_encoder_are_refused(length: int) -> None:
    with pytest.raises(InvalidInput):
        encoder(length)
