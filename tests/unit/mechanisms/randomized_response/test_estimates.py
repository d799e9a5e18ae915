"""Test counts of answers that were drawn at random: unbiased, and within their intervals."""

from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms.randomized_response.estimates import counts

KEEP, CATEGORIES, PEOPLE = Fraction(3, 5), 4, 30


def _answers(number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return answers of which ``number`` are of category 0."""
    answers = np.full(PEOPLE, 3)
    answers[:number] = 0
    return answers


def _law(true: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the law of how many of all answers are drawn for a category, person by person."""
    law = np.ones(1)
    for person in range(PEOPLE):
        chance = float((person < true) * KEEP + (1 - KEEP) / CATEGORIES)
        law = np.convolve(law, [1 - chance, chance])
    return law


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_cover_every_true_count_as_often_as_they_say(confidence: float) -> None:
    found = [counts(_answers(c), KEEP, CATEGORIES, confidence)[0] for c in range(PEOPLE + 1)]
    covered, narrower = [], []
    for true in range(PEOPLE + 1):
        law = _law(true)
        covered.append(sum(law[c] for c, one in enumerate(found) if one.low <= true <= one.high))
        narrower.append(sum(law[c] for c, one in enumerate(found) if one.low < true < one.high))
        mean = sum(law[c] * one.estimate for c, one in enumerate(found))
        assert mean == pytest.approx(true, abs=1e-9)
    assert min(covered) >= confidence - 1e-9
    assert min(narrower) < confidence


def test_every_category_is_counted_and_estimates_add_up_to_everybody() -> None:
    answers = np.array([0] * 900 + [2] * 90 + [1] * 10)
    found = counts(answers, Fraction(1, 2), 4)
    assert len(found) == 4
    assert sum(one.estimate for one in found) == pytest.approx(1000)
    assert found[3].estimate < 0 == found[3].low
    assert all(0 <= one.low <= one.high <= 1000 for one in found)


def test_answers_that_say_nothing_are_refused() -> None:
    for keep in (Fraction(0), Fraction(1)):
        with pytest.raises(InvalidInput, match="above 0 and below 1"):
            counts(_answers(3), keep, CATEGORIES)
    with pytest.raises(InvalidInput, match="not 0 kept"):
        counts(np.zeros(0, dtype=np.int64), KEEP, CATEGORIES)
    with pytest.raises(InvalidInput, match="confidence"):
        counts(_answers(3), KEEP, CATEGORIES, 1.0)
