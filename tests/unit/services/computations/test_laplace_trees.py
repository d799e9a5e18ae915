"""Test which of two Laplace trees a stream gets whose levels are given by epsilon.

Both figures are computed here a second time: that of the tree that subtracts from its pure epsilon,
that of the tree that adds from what its level is read as at the dataset's delta.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from itertools import repeat
from typing import Any

import numpy as np
import pytest

from penstock.accounting.guarantees import guarantee_at
from penstock.mechanisms import Laplace
from penstock.privacy import Sensitivity
from penstock.randomness import Stream
from penstock.services.computations.stream_structure import (
    candidates,
    looking_ahead,
    prepared,
    settled,
    squared_error,
)
from penstock.services.noise.kinds.stream_shape import TreeShape
from penstock.services.schemas.streams import StreamRequest
from penstock.structures import KaryTree, NodeNoise
from penstock.structures.streams.choice import best_tree

DELTA = 1e-6
STEP = Fraction(1, 1 << 20)


def request(length: int | None, epsilons: tuple[float, ...], **terms: Any) -> StreamRequest:
    tiers = ("public", "partner", "internal")
    levels = {tier: {"epsilon": each} for tier, each in zip(tiers, epsilons, strict=False)}
    return StreamRequest.model_validate(
        {"name": "hits", "dataset": "clicks", "mechanism": "laplace", "length": length}
        | {"levels": levels, **terms}
    )


def scale_at(moved: Sensitivity, epsilon: float) -> float:
    """Return the least scale at which noise of this sensitivity is read as ``epsilon``."""
    low, high = moved.l1 / Fraction(epsilon) / 100, moved.l1 / Fraction(epsilon)
    for _ in range(24):
        middle = (low + high) / 2
        read = guarantee_at(Laplace(STEP), middle, moved, DELTA).epsilon
        low, high = (low, middle) if read <= epsilon else (middle, high)
    return float(high)


def figures(length: int, steps: int, dimension: int, epsilon: float) -> tuple[float, float]:
    """Return the squared errors of the best trees that subtract and that add."""

    def moved(tree: KaryTree) -> Sensitivity:
        columns = tree.columns(steps)
        return replace(
            columns, l1=columns.l1 * dimension, l2_squared=columns.l2_squared * dimension
        )

    ahead, adding = (best_tree(length, pure=True, past_only=only) for only in (False, True))
    scales = float(moved(ahead).l1) / epsilon, scale_at(moved(adding), epsilon)
    means = ahead.mean_nodes(), adding.mean_nodes()
    one, other = (2 * scale**2 * float(mean) for scale, mean in zip(scales, means, strict=True))
    return one, other


CASES = [
    # What is better depends on how much more l1 allows than l2 does: at one number the tree that
    # subtracts, at many numbers the other one, and between them it depends on epsilon.
    *((64, 1, 1, 1.0, True), (64, 5, 1, 0.1, True), (365, 1, 1, 1.0, True)),
    *((365, 20, 1, 4.0, True), (1024, 1, 1, 0.1, True), (1 << 16, 1, 1, 1.0, True)),
    *((64, 1, 10, 0.1, False), (64, 1, 10, 4.0, True), (64, 1, 100, 1.0, False)),
    *((365, 20, 10, 1.0, False), (1024, 2, 100, 4.0, False)),
]


@pytest.mark.parametrize(("length", "steps", "dimension", "epsilon", "subtracts"), CASES)
def test_auto_is_the_tree_with_the_less_error_at_epsilon(
    length: int, steps: int, dimension: int, epsilon: float, subtracts: bool
) -> None:
    ahead, adding = figures(length, steps, dimension, epsilon)
    assert (ahead < adding) == subtracts
    sent = request(
        length, (epsilon,), dimension=dimension, sensitivity={"l1": dimension, "linf": 1}
    )
    best, *others = candidates(sent, steps, DELTA)
    assert isinstance(best, TreeShape)
    assert best.past_only != subtracts
    assert [other.past_only for other in others] == [True] * subtracts
    shapes = looking_ahead(sent, steps, DELTA), settled(sent, steps, DELTA)
    for shape, figure in zip(shapes, (ahead, adding), strict=True):
        assert isinstance(shape, TreeShape)
        assert squared_error(shape, sent, epsilon, DELTA) == pytest.approx(figure, rel=2e-3)


@pytest.mark.parametrize("length", [1, 2, 4, 13])
def test_few_steps_are_listed_where_nothing_can_be_subtracted(length: int) -> None:
    assert looking_ahead(request(length, (1.0,)), 1, DELTA) is None


def test_a_stream_without_an_end_subtracts_at_one_number() -> None:
    best, other = candidates(request(None, (0.5, 1.0)), 1, DELTA)
    assert (best.kind, best.past_only, other.kind, other.past_only) == (
        *("epochs", False),
        *("epochs", True),
    )


@pytest.mark.parametrize(
    ("terms", "delta"),
    [
        ({"levels": None, "share": 0.5}, DELTA),
        ({"levels": {"public": {"epsilon": 1}, "internal": {"level": 3}}}, DELTA),
        ({"levels": {"public": {"half_width": 90}}}, DELTA),
        ({"structure": "kary"}, DELTA),
        ({"structure": "kary", "k": 5}, DELTA),
        ({"structure": "binary"}, DELTA),
        ({"mechanism": "gaussian"}, DELTA),
        # There every tree is charged its pure epsilon, and the best of all is taken.
        ({}, 0.0),
    ],
    ids=str,
)
def test_others_are_not_changed(terms: dict[str, Any], delta: float) -> None:
    sent = request(200, (1.0,), **terms)
    assert looking_ahead(sent, 1, delta) is None
    if sent.mechanism == "laplace":
        (only,) = candidates(sent, 1, delta)
        assert only == settled(sent, 1, delta)


@pytest.mark.parametrize("epsilon", [1e-30, 1e30])
def test_levels_that_cannot_be_are_left_to_opening(epsilon: float) -> None:
    assert candidates(request(200, (1.0, epsilon)), 1, DELTA) == [
        settled(request(200, (1.0,)), 1, DELTA)
    ]


def test_one_level_at_which_it_has_more_error_is_enough_against_it() -> None:
    """At ten numbers it has less error at epsilon 4, and more at 0.1."""
    own = {"dimension": 10, "sensitivity": {"l1": 10, "linf": 1}}
    assert not candidates(request(64, (4.0,), **own), 1, DELTA)[0].past_only
    assert candidates(request(64, (0.1, 4.0), **own), 1, DELTA)[0].past_only


def test_simulated_errors_are_those_that_are_compared() -> None:
    """Mean squares of 64 totals of 3,000 numbers; 5 standard errors, a fixed seed."""
    sent, numbers = request(64, (1.0,)), 3000
    for shape in (looking_ahead(sent, 1, DELTA), settled(sent, 1, DELTA)):
        assert isinstance(shape, TreeShape)
        key = sha256(shape.encoded().encode()).digest()
        level = prepared(sent, shape).sensitivity.l1
        noise = NodeNoise.begin(Laplace(Fraction(1, 1024)), shape.forest, numbers, [level])
        stream = partial(next, repeat(Stream.from_key(key)))
        drawn = np.array([noise.advance(1, stream)[0][0] for _ in range(64)]) / 1024
        means = np.square(drawn).mean(axis=0)
        error = means.std() / numbers**0.5
        assert abs(means.mean() - squared_error(shape, sent, 1.0, DELTA)) < 5 * error
