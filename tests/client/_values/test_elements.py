"""Test that the stated noise of a stream's elements is the one that simulated elements have."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness.stream import Stream
from penstock.structures.streams.forest import chain
from penstock.structures.streams.kary import KaryTree
from penstock_client import CovarianceUnknown, InvalidArgument
from penstock_client._http.fields import Fields
from penstock_client._values.elements import spread_of

STEPS, DRAWS, KEY = 20, 4000, bytes(32)
TREE = {"kind": "kary", "k": 3, "subtracting": True}
LARGEST = 1.2
"""Ratio of a variance of ``DRAWS`` normal draws to the true one, and its inverse, are below it.

The standard deviation of the ratio is 0.022: a test of 20 steps fails wrongly with probability
below 1e-14.
"""


def fields(**answer: Any) -> Fields:
    return Fields({"granularity": 1e-9, **answer}, "answer")


def simulated() -> tuple[NDArray[np.float64], list[float]]:
    """Return drawn noises of totals, a row for each draw, and the totals' true deviations."""
    tree, random = KaryTree(STEPS, 3, subtracting=True), Stream.from_key(KEY).generator
    nodes = [sorted(chain(tree, tree.node(step))) for step in range(1, STEPS + 1)]
    drawn = {node: random.normal(0, 3, DRAWS) for each in nodes for node in each}
    totals = np.array([sum(drawn[node] for node in each) for each in nodes]).T
    return totals, [3 * sqrt(len(each)) for each in nodes]


def is_right(deviations: list[float]) -> bool:
    """Return whether these may be the standard deviations of the simulated elements."""
    totals, _ = simulated()
    found = np.diff(totals, axis=1, prepend=0.0).var(axis=0)
    ratios = found / np.square(deviations)
    return bool((ratios < LARGEST).all() and (ratios > 1 / LARGEST).all())


def test_elements_vary_as_stated_and_not_as_if_totals_were_independent() -> None:
    _, sums = simulated()
    spread = spread_of("gaussian", fields(), fields(structure=TREE), STEPS, 0.95)
    stated = [spread(step, each)[0] for step, each in enumerate(sums, 1)]
    assert is_right(stated)
    apart = [sqrt(a * a + b * b) for a, b in zip(sums, [0.0, *sums[:-1]], strict=True)]
    assert not is_right(apart)
    assert not is_right(sums)


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(CovarianceUnknown):
        spread_of("gaussian", fields(), fields(structure={"kind": "new"}), STEPS, 0.95)
    for mechanism, confidence in (("new", 0.95), ("gaussian", 1.0)):
        spread = spread_of(mechanism, fields(), fields(structure=TREE), STEPS, confidence)
        with pytest.raises(InvalidArgument):
            spread(3, 3.0)
