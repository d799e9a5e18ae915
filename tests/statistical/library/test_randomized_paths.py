"""Test that randomized answers, drawn in any order, have the joint law of the static chain."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.statistical.checks import accept, chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams

from penstock.mechanisms import RandomizedResponse

SIZE = 1 << 16
CATEGORIES = 3
KEEPS = (Fraction(4, 5), Fraction(3, 5), Fraction(2, 5), Fraction(1, 5))
ORDERS = ((0, 3, 1, 2), (2, 0, 3, 1))
"""The second one raises the anchor."""


class Forgetful(RandomizedResponse):
    """Bridge without regard to where it has to arrive: broken."""

    def bridge(self, accurate: Any, _: Any, difference: Any, keep: Any, stream: Any) -> Any:
        return self.increment(accurate, keep, len(difference), stream)


def _p_value(response: RandomizedResponse, order: Sequence[int], label: str) -> float:
    streams = keyed_streams(f"randomized/{label}/{order}")
    answers = np.zeros(SIZE, dtype=np.int64)
    path = {order[0]: response.anchor(answers, KEEPS[order[0]], streams())}
    for place in order[1:]:
        above = [(KEEPS[known], path[known]) for known in sorted(path) if known > place]
        below = [(KEEPS[known], path[known]) for known in sorted(path) if known < place]
        if below:
            noisy = above[0] if above else None
            path[place] = response.place(below[-1], noisy, KEEPS[place], streams())
        else:
            path[place] = response.raised(answers, above[0], KEEPS[place], streams())
    values = [answers, *(path[place] for place in range(len(KEEPS)))]
    steps = [(b - a) % CATEGORIES for a, b in pairwise(values)]
    shape = (CATEGORIES,) * len(steps)
    observed = np.bincount(np.ravel_multi_index(steps, shape), minlength=CATEGORIES**4)
    expected = np.ones(1)
    for high, low in zip((Fraction(1), *KEEPS), KEEPS, strict=False):
        other = float((1 - low / high) / CATEGORIES)
        masses = np.array([float(low / high) + other, other, other])
        expected = np.multiply.outer(expected, masses).ravel()
    return chi_squared(observed, expected * SIZE)


@pytest.mark.parametrize("order", ORDERS, ids=["bridges", "raises"])
def test_answers_in_any_order_have_the_joint_law_of_the_chain(order: Sequence[int]) -> None:
    accept(_p_value(RandomizedResponse(CATEGORIES), order, "right"), f"randomized, order {order}")
    assert rejects(_p_value(Forgetful(CATEGORIES), order, "forgetful"))
