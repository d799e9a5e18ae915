"""Test the memory of draws: at most three times the vector, which is one of the three."""

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from penstock.mechanisms import (
    Gaussian,
    IntVector,
    Laplace,
    Mechanism,
    Poisson,
    Skellam,
    draw_anchor,
    place,
    raise_anchor,
)
from penstock.randomness import Stream

MOST = 3
SIZE = 1 << 19
MECHANISMS = (
    Gaussian(Fraction(1, 1 << 14)),
    Laplace(Fraction(1, 1 << 10)),
    Poisson(Fraction(1)),
    Skellam(Fraction(1)),
)
kinds = pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda one: one.name)


def _peak(draw: Callable[[], IntVector]) -> float:
    """Return the most memory that ``draw`` took at a time, in vectors of what it returned."""
    gc.collect()
    tracemalloc.start()
    try:
        drawn = draw()
        return tracemalloc.get_traced_memory()[1] / drawn.nbytes
    finally:
        tracemalloc.stop()


def _stream() -> Stream:
    return Stream.from_key(bytes(range(32)), threads=2)


def _bridged(mechanism: Mechanism) -> float:
    accurate = draw_anchor(mechanism, np.zeros(SIZE, dtype=np.int64), Fraction(100), _stream())
    noisy = place(mechanism, (Fraction(100), accurate), None, Fraction(400), _stream())
    ends = (Fraction(100), accurate), (Fraction(400), noisy)
    return _peak(lambda: place(mechanism, *ends, Fraction(200), _stream()))


@kinds
def test_a_release_between_two_others_takes_three_vectors_at_most(mechanism: Mechanism) -> None:
    assert _bridged(mechanism) < MOST


@kinds
def test_an_anchor_and_a_raised_one_take_no_more(mechanism: Mechanism) -> None:
    exact = np.zeros(SIZE, dtype=np.int64)
    anchors = []

    def anchor() -> IntVector:
        anchors.append(draw_anchor(mechanism, exact, Fraction(400), _stream()))
        return anchors[0]

    assert _peak(anchor) < MOST
    noisy = (Fraction(400), anchors[0])
    assert _peak(lambda: raise_anchor(mechanism, exact, noisy, Fraction(100), _stream())) < MOST


@dataclass(frozen=True)
class _Copying(Gaussian):
    """Draw noise as floats first, all of it, and round it into another vector: broken."""

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        noise = super().bridge(accurate, noisy, difference, level, stream)
        rounded = np.rint(noise.astype(np.float64))
        return rounded.astype(np.int64)


def test_a_draw_with_another_copy_is_found_out() -> None:
    assert _bridged(_Copying(Fraction(1, 1 << 14))) >= MOST
