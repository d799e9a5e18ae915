"""Test randomized response as it is used: by a person, and by a holder of answers."""

import math
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import RandomizedResponse
from penstock.privacy import Definition
from penstock.randomness import Stream

F = Fraction


def _stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 4.0, 40.0, 300.0])
def test_the_probability_for_an_epsilon_keeps_to_it_and_wastes_none(epsilon: float) -> None:
    response = RandomizedResponse(4)
    keep = response.keep_for(epsilon)
    promise = response.guarantee(keep)
    assert (promise.definition, promise.delta) == (Definition.PURE, 0.0)
    assert promise.epsilon <= epsilon
    if epsilon < 30:  # beyond, the next float of a probability is far off
        assert promise.epsilon == pytest.approx(epsilon, rel=1e-8)


def test_a_person_with_several_changed_answers_loses_all_of_them() -> None:
    response, keep = RandomizedResponse(3), F(1, 2)
    assert response.guarantee(keep, changed=4).epsilon == 4 * response.guarantee(keep).epsilon
    assert response.cost(keep, 3.0, changed=4).loss == 4 * response.cost(keep, 3.0).loss
    assert response.cost(keep, math.inf).failure == 0


def test_releases_are_answers_and_differ_no_more_than_their_levels_say() -> None:
    response, answers = RandomizedResponse(5), np.arange(40_000) % 5
    best = response.anchor(answers, F(3, 5), _stream("best"))
    public = response.place((F(3, 5), best), None, F(1, 5), _stream("public"))
    between = response.place((F(3, 5), best), (F(1, 5), public), F(2, 5), _stream("between"))
    top = response.raised(answers, (F(3, 5), best), F(4, 5), _stream("top"))
    for drawn, keep in ((top, 0.8), (best, 0.6), (between, 0.4), (public, 0.2)):
        assert set(np.unique(drawn)) == set(range(5))
        share = keep + (1 - keep) / 5
        assert abs((drawn == answers).mean() - share) < 6 * math.sqrt(0.25 / 40_000)
    for first, second, ratio in (
        (top, best, 3 / 4),
        (best, between, 2 / 3),
        (between, public, 0.5),
    ):
        share = ratio + (1 - ratio) / 5
        assert abs((first == second).mean() - share) < 6 * math.sqrt(0.25 / 40_000)


def test_what_cannot_be_is_refused() -> None:
    response, stream = RandomizedResponse(3), _stream("refused")
    for answers in ([0, 3], [-1], [], [0.5], [[1]]):
        with pytest.raises(InvalidInput, match="integers from 0 to 2"):
            response.anchor(answers, F(1, 2), stream)
    for keep in (F(1), F(-1, 2), F(2)):
        with pytest.raises(InvalidInput, match="must fall"):
            response.anchor([1], keep, stream)
    known = (F(1, 2), np.array([1, 2]))
    with pytest.raises(InvalidInput, match="must fall"):
        response.place(known, None, F(3, 5), stream)
    with pytest.raises(InvalidInput, match="not of the same people"):
        response.place(known, (F(1, 4), np.array([1])), F(1, 3), stream)
    for categories in (1, 1 << 21):
        with pytest.raises(InvalidInput, match="from 2 to"):
            RandomizedResponse(categories)
    for epsilon in (0.0, 700.0, math.nan):
        with pytest.raises(InvalidInput, match="above 0 and below 700"):
            response.keep_for(epsilon)
