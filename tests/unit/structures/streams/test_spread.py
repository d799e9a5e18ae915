"""Test how far off running totals are, against laws that are known in closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.structures import Epochs, KaryTree, smooth_binary
from penstock.structures.streams.forest import variance_weight
from penstock.structures.streams.spread import laplace_half_width, weights

ONE = Fraction(1)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_half_widths_are_those_of_the_closed_forms(confidence: float) -> None:
    out = 1 - confidence
    x = laplace_half_width([ONE], confidence)
    assert math.exp(-x) == pytest.approx(out, rel=1e-9)
    x = laplace_half_width([ONE, ONE], confidence)
    assert math.exp(-x) * (1 + x / 2) == pytest.approx(out, rel=1e-4)
    x = laplace_half_width([ONE, 2 * ONE], confidence)
    assert (4 * math.exp(-x / 2) - math.exp(-x)) / 3 == pytest.approx(out, rel=1e-4)


def test_half_widths_grow_with_the_scales_and_hold_in_a_simulation() -> None:
    scales = [Fraction(3), Fraction(5), Fraction(5), Fraction(8)]
    width = laplace_half_width(scales, 0.95)
    doubled = laplace_half_width([2 * scale for scale in scales], 0.95)
    assert doubled == pytest.approx(2 * width, rel=1e-9)
    generator = Stream.from_key(bytes(32)).generator
    total = sum(generator.laplace(0, float(scale), 200_000) for scale in scales)
    assert np.mean(np.abs(total) <= width) == pytest.approx(0.95, abs=0.003)


@pytest.mark.parametrize(("scales", "confidence"), [([], 0.5), ([ONE], 0), ([ONE], 1)])
def test_what_has_no_half_width_is_refused(scales: list[Fraction], confidence: float) -> None:
    with pytest.raises(InvalidInput):
        laplace_half_width(scales, confidence)


@pytest.mark.parametrize("forest", [KaryTree(60, 5), smooth_binary(60, pure=True), Epochs()])
def test_the_weights_are_those_of_the_variance(forest: KaryTree | Epochs) -> None:
    for step in (1, 2, 31, 60):
        found = weights(forest, forest.node(step))
        assert sum(found) == variance_weight(forest, step, squared=False)
        assert sum(w * w for w in found) == variance_weight(forest, step, squared=True)
