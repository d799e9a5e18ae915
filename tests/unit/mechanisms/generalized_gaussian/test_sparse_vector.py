"""Test the sparse vector technique: its promise by enumeration, and what it refuses."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.statistical.structures import searches
from tests.statistical.structures.searches import BROKEN, broken, largest_loss, law_of, masses

from penstock.errors import InvalidInput
from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector
from penstock.randomness import Stream

CASES = (
    (SparseVector.of(1, 3, 2, 1), 3, (-6, 6), False),
    (SparseVector.of(2, 3, 1, 1), 2, (-20, 0, 20), False),
    (SparseVector.of(1, 3, 1, 1), 6, (-8,), False),
    (SparseVector.of(1, 3, 1, 1), 10, (40,), True),
    (SparseVector.of(1, 3, 2, 2), 4, (-20, 20), False),
    (SparseVector.of(1, 3, 1, 2), 4, (-20, 20), False),
)
"""Searches, how many numbers, their values, and whether all are alike and move together."""


@pytest.mark.parametrize(("search", "size", "values", "together"), CASES)
def test_no_outcome_tells_neighbors_apart_by_more_than_epsilon(
    search: SparseVector, size: int, values: tuple[int, ...], together: bool
) -> None:
    loss = largest_loss(search, size, values, together=together)
    assert loss <= float(search.epsilon) * (1 + 1e-9)


def test_the_promise_is_all_but_reached() -> None:
    search, size, values, together = CASES[-1]
    assert largest_loss(search, size, values, together=together) > 0.9 * float(search.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_searches_are_told_apart_by_more(kind: type[SparseVector]) -> None:
    losses = (
        largest_loss(broken(kind, search), size, values, together=together) / float(search.epsilon)
        for search, size, values, together in CASES
    )
    assert any(loss > 1.2 for loss in losses)


@pytest.mark.parametrize("kind", [SparseVector, searches.Endless])
def test_what_is_found_for_every_noise_adds_up_to_the_law(kind: type[SparseVector]) -> None:
    # Noise of up to 6 steps, in every combination.
    search, values, reach = broken(kind, SparseVector.of(1, 2, 1, 3)), (0, 3), 6
    steps = range(-reach, reach + 1)
    threshold = masses(search.threshold_scale, reach)
    own = masses(search.query_scale, reach)
    law: defaultdict[tuple[int, ...], float] = defaultdict(float)
    for raised, *noise in product(steps, repeat=3):
        found = search.places_above(np.array(values), np.array([raised]), np.array(noise))
        chance = threshold[raised + reach] * math.prod(own[one + reach] for one in noise)
        law[tuple(found.tolist())] += float(chance)
    for places, mass in law_of(search, values, reach).items():
        assert law[places] == pytest.approx(mass, rel=1e-9, abs=1e-15)


def test_epsilon_is_split_so_that_comparisons_are_least_noisy() -> None:
    search = SparseVector.of(3, 100, 4, Fraction(1, 2))
    assert search.epsilon == Fraction(1, 2)
    assert float(search.query_epsilon / search.threshold_epsilon) == pytest.approx(4)
    best = search.threshold_scale**2 + search.query_scale**2
    for moved in (Fraction(9, 10), Fraction(11, 10)):
        part = search.threshold_epsilon * moved
        other = SparseVector(3, 100, 4, part, search.epsilon - part)
        assert other.threshold_scale**2 + other.query_scale**2 > best


def test_the_first_of_many_are_found_in_order_and_no_more_than_the_cutoff() -> None:
    search = SparseVector.of(1, 1_000, 3, 20)
    values = np.zeros(50, dtype=np.int64)
    values[[4, 17, 30, 44]] = 5_000
    stream = Stream.from_key(bytes(32))
    assert search.above(values, stream).tolist() == [4, 17, 30]
    assert search.above(values[:20], stream).tolist() == [4, 17]
    assert search.above(values[:4], stream).tolist() == []


def test_the_widest_noise_and_the_largest_values_stay_within_64_bits() -> None:
    search = SparseVector(1, 1 << 52, 1, Fraction(1, 1 << 41), Fraction(1, 1 << 40))
    far = np.array([(1 << 61) + 1])
    largest = np.array([1 << 54])
    assert search.places_above(largest, -far, far).tolist() == [0]
    assert search.places_above(-largest, far, -far).tolist() == []


@pytest.mark.parametrize(
    ("shift", "threshold", "cutoff", "epsilon", "message"),
    [
        (0, 1, 1, 1.0, "not 0, 1 and 1"),
        (1, -1, 1, 1.0, "not 1, 1 and -1"),
        (1, (1 << 52) + 1, 1, 1.0, "from 0 to 2.52"),
        (1, 1, 0, 1.0, "a cutoff at least 1, not 1 and 0"),
        (1, 1, 1, 0.0, "above 0, not 0 and 0"),
        (1, 1, 1, -1.0, "above 0, not -"),
        (1, 1, 1, math.nan, "finite number"),
        (1, 1, 1, math.inf, "finite number"),
        (1 << 40, 1, 4, 0.5, "2.41 can be drawn"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_its_numbers(
    shift: int, threshold: int, cutoff: int, epsilon: float, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        SparseVector.of(shift, threshold, cutoff, epsilon)
