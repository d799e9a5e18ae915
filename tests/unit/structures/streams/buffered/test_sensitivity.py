"""Test that no unit moves what is protected further than is stated, roundings included."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg
from tests.unit.structures.streams.buffered.exact_matrices import decoder, of_noise, strategy

from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity
from penstock.randomness import Stream
from penstock.structures.streams.buffered.encoder import LONGEST, Encoder, columns, encoder
from penstock.structures.streams.buffered.fixed_point import DIGITS, Recursion, off
from penstock.structures.streams.buffered.sensitivity import (
    SHARE,
    fine_step,
    moved_together,
    roundings,
)

STEPS = 120
STEP = Fraction(1, 8)
ELEMENT = Sensitivity(Fraction(3), Fraction(5, 2), Fraction(3, 2))


def centers(matrix: Encoder, drawn: np.ndarray) -> list[Fraction]:
    """Return minus the weighted sums of all parts, in steps; ``drawn`` has shape (steps, parts)."""
    recursion = Recursion(matrix)
    high = low = np.zeros((len(matrix.exponents), drawn.shape[1], 1), dtype=np.int64)
    found = []
    for added in drawn:
        whole, digits = recursion.weighted(high, low)
        found.append(-Fraction((int(whole.sum()) << DIGITS) + int(digits.sum()), 1 << DIGITS))
        high, low = recursion.step(high, low, added[:, None])
    return found


def worst(matrix: Encoder, moves: Sequence[tuple[int, int]]) -> Fraction:
    """Return how far the centers of neighbors are from ``R x`` apart, for equal outputs.

    The neighbor's elements are larger by ``moves``, its draws smaller, and shared in another way
    by the parts.
    """
    generator = Stream.from_key(bytes(32)).generator
    drawn = generator.integers(-(1 << 40), 1 << 40, (STEPS, 3))
    other = drawn.copy()
    difference = np.zeros(STEPS, dtype=np.int64)
    for place, by in moves:
        difference[place] += by
    other[:, 0] -= difference
    shared = generator.integers(-(1 << 40), 1 << 40, STEPS)
    other[:, 1] += shared
    other[:, 2] -= shared
    before, after = centers(matrix, drawn), centers(matrix, other)
    entries = strategy(matrix, STEPS)
    apart = []
    for step in range(STEPS):
        moved = sum(entries[step - p] * int(by) for p, by in moves if p <= step)
        apart.append(abs(int(difference[step]) + after[step] - before[step] - moved))
    return max(apart)


@pytest.mark.parametrize("length", [STEPS, LONGEST])
@pytest.mark.parametrize("moves", [[(0, 1)], [(7, 1 << 20)], [(0, 5), (1, -9), (40, 1 << 30)]])
def test_for_equal_outputs_centers_are_apart_by_the_encoder(
    length: int, moves: list[tuple[int, int]]
) -> None:
    matrix = encoder(length)
    assert worst(matrix, moves) <= 2 * 3 * off(matrix)


def test_buffers_of_whole_steps_would_tell_more(monkeypatch: pytest.MonkeyPatch) -> None:
    weighted = Recursion.weighted

    def rounded(self: Recursion, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, ...]:
        whole, digits = weighted(self, high, low)
        return whole + (digits >> (DIGITS - 1)), 0 * digits

    monkeypatch.setattr(Recursion, "weighted", rounded)
    matrix = encoder(STEPS)
    assert worst(matrix, [(0, 1)]) > 2 * 3 * off(matrix)


@pytest.mark.parametrize("steps", [1, 2, 30])
def test_errors_before_a_tier_joins_are_carried_on_as_stated(steps: int) -> None:
    """In the weighted sum at most as they were, in the total by the entries of ``L``."""
    matrix = encoder(LONGEST)
    buffers = of_noise(matrix, steps)[:-1]
    for later in (0, 1, 5, 1 << 12):
        weights = [
            w * (k**later if later < 9 else Fraction(float(k) ** later))
            for w, k in zip(matrix.weights, matrix.kept, strict=True)
        ]
        carried = np.array(weights, dtype=object).dot(buffers)
        assert sum(map(abs, carried)) <= 1
    assert sum(decoder(matrix, steps)) <= 1 / strategy(matrix, steps)[-1]


@pytest.mark.parametrize("joining", [1, 5, 11])
def test_outputs_of_a_tier_that_joins_cost_what_its_level_does(joining: int) -> None:
    """Level 4 from the start and level 1 later: the worst element's loss, over one of level 1."""
    steps, levels = 12, (4.0, 1.0)
    matrix = encoder(steps)
    totals = linalg.toeplitz([float(e) for e in decoder(matrix, steps)], np.zeros(steps))
    rows = np.concatenate([totals, totals[joining:]])
    level = np.repeat(levels, [steps, steps - joining])
    covariance = np.minimum.outer(level, level) * (rows @ rows.T)
    ones = np.tri(steps)
    moved = np.concatenate([ones, ones[joining:]])
    loss = moved.T @ np.linalg.solve(covariance, moved)
    largest = float(columns(matrix, 1).l2_squared)
    assert loss.diagonal().max() <= largest * (1 + 1e-9)
    # Drawn for itself, it would add up with what the other tier told.
    apart = covariance * np.equal.outer(level, level)
    gained = moved.T @ np.linalg.solve(apart, moved)
    assert gained.diagonal().max() > loss.diagonal().max() * 1.01


@pytest.mark.parametrize("length", [1, 1000, 1 << 20, LONGEST])
@pytest.mark.parametrize(("moved", "tiers"), [(1, 1), (1, 16), (1000, 64), (1 << 20, 1024)])
def test_roundings_add_a_thousandth_at_most(length: int, moved: int, tiers: int) -> None:
    matrix = encoder(length)
    step = fine_step(matrix, ELEMENT, STEP, moved, tiers)
    assert (STEP / step).denominator == 1
    for count in (1, 7):
        most = moved_together(matrix, ELEMENT, count, step, moved, tiers)
        plain = columns(matrix, count)
        exact = plain.l2_squared * ELEMENT.l2_squared
        assert exact < most.l2_squared <= exact * (1 + SHARE + Fraction(1, 1 << 60)) ** 2
        assert most.l1 > plain.l1 * ELEMENT.l1
        assert most.linf > plain.linf * ELEMENT.linf
    if step < STEP:
        coarser = moved_together(matrix, ELEMENT, 1, 2 * step, moved, tiers).l2_squared
        assert coarser > columns(matrix, 1).l2_squared * ELEMENT.l2_squared * (1 + SHARE)


def test_roundings_grow_with_the_tiers() -> None:
    few, many = (roundings(encoder(1000), tiers) for tiers in (1, 5))
    assert (few.l1, few.l2, few.linf) < (many.l1, many.l2, many.linf)
    with pytest.raises(InvalidInput):
        roundings(encoder(1000), 0)
