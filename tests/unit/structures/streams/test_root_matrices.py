"""Test the square root in integers: rounded where it protects, exact where it puts together."""

from itertools import combinations, product

import numpy as np
import pytest
from tests.unit.structures.exact_root import exact_decoder

from penstock.errors import InvalidInput
from penstock.structures.factorization.square_root import coefficients, column_square
from penstock.structures.streams.root_matrices import (
    DIGITS,
    LONGEST,
    OFF,
    columns,
    decoder,
    exact_up_to,
    float_decoder,
    strategy,
)


def test_the_decoder_undoes_the_rounded_strategy() -> None:
    entries, found = strategy(40), exact_decoder(40)
    for place in range(40):
        assert sum(int(entries[i]) * found[place - i] for i in range(place + 1)) == 1 << DIGITS


@pytest.mark.parametrize("bits", [20, 47, 128, 256])
def test_digits_are_off_by_less_than_is_stated(bits: int) -> None:
    exact, found = exact_decoder(64), decoder(64, bits)
    for place, (entry, true) in enumerate(zip(found, exact, strict=True)):
        assert abs(entry - true * 2**bits) < OFF
        if place <= exact_up_to(bits):
            assert entry == true * 2**bits


def test_digits_of_the_longest_stream_are_off_by_less_than_is_stated() -> None:
    fine, coarse = decoder(LONGEST, 256), decoder(LONGEST, 128)
    assert max(abs((a >> 128) - b) for a, b in zip(fine, coarse, strict=True)) < OFF
    inverse = np.diff([0.0, *(entry / (1 << 128) for entry in coarse)])
    # The inverse of R by its differences: what a cut digit is multiplied by.
    assert np.abs(inverse).sum() < OFF


def test_entries_are_those_of_the_square_root() -> None:
    exact = coefficients(LONGEST)
    assert np.abs(strategy(LONGEST) / 2.0**DIGITS - exact).max() <= 2.0 ** -(DIGITS + 1)
    assert np.abs(float_decoder(LONGEST) - exact).max() < 1e-6
    assert float(columns(LONGEST, 1).l2_squared) == pytest.approx(column_square(LONGEST), rel=1e-6)
    assert (np.diff(strategy(LONGEST)) <= 0).all()


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_no_columns_weigh_more_than_the_first_ones(length: int, count: int) -> None:
    entries = strategy(length)
    matrix = [[int(entries[i - j]) if i >= j else 0 for j in range(length)] for i in range(length)]
    moves = [
        [
            sum(sign * row[place] for place, sign in zip(places, signs, strict=True))
            for row in matrix
        ]
        for places in combinations(range(length), min(count, length))
        for signs in product((-1, 1), repeat=len(places))
    ]
    most = columns(length, count)
    unit = 1 << DIGITS
    assert most.l1 * unit == max(sum(map(abs, move)) for move in moves)
    assert most.l2_squared * unit**2 == max(sum(one**2 for one in move) for move in moves)
    assert most.linf * unit == max(max(map(abs, move)) for move in moves)
    assert most.l2_squared <= count**2 * columns(length, 1).l2_squared


@pytest.mark.parametrize("length", [0, LONGEST + 1])
def test_lengths_that_cannot_be_kept_are_refused(length: int) -> None:
    with pytest.raises(InvalidInput):
        strategy(length)
