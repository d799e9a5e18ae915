"""Compute the elements of a stream from its running totals: each is a total less the one before.

The noise that both totals have cancels.  In a tree what is left is that of the nodes which only one
of them has, and with the square root and with buffers the newest noise and a little of each before.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms.laplace.process import Laplace
from penstock.services.noise.derived.quantities import CONSERVATIVE, EXACT, normal_quantile
from penstock.services.schemas.estimates.covariance import TotalsCovarianceView
from penstock.services.schemas.streams import RunningTotalsView
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.errors import element_variances
from penstock.structures.streams.epochs import Epochs
from penstock.structures.streams.forest import Forest, chain
from penstock.structures.streams.kary import KaryTree
from penstock.structures.streams.root_matrices import float_decoder
from penstock.structures.streams.smooth_binary import SmoothBinary

ROUNDED = "The interval is exact for Gaussian noise, and wider by how totals are rounded."

Spread = Callable[[int], tuple[float, float]]
"""Returns the standard deviation of an element, and how far its interval reaches."""


@dataclass(frozen=True)
class Element:
    """Hold the values of one element, of shape ``(dimension,)``, each with the same error."""

    step: int
    values: NDArray[np.float64]
    standard_deviation: float
    half_width: float


@dataclass(frozen=True)
class Elements:
    """Hold elements of a stream at one tier, and in one line how exact their intervals are."""

    tier: str
    items: Sequence[Element]
    confidence: float
    law: str


def elements(
    totals: RunningTotalsView, length: int | None, some: Iterable[int] | None = None
) -> Elements:
    """Return the elements in a range of totals, or those at ``some`` places of it, from 0.

    The first total is an element only if it is that of the first step.  ``length`` is that of the
    stream, ``None`` without an end.
    """
    first = totals.items[0].t
    begin = 0 if first == 1 else 1
    chosen = range(len(totals.items)) if some is None else some
    places = [place for place in chosen if place >= begin]
    confidence = totals.items[0].error.confidence
    spread, law = _spread(totals, length, confidence, [first + place for place in places])
    items = []
    for place in places:
        values = np.asarray(totals.items[place].values, dtype=np.float64)
        if place > 0:
            values = values - np.asarray(totals.items[place - 1].values, dtype=np.float64)
        items.append(Element(first + place, values, *spread(first + place)))
    return Elements(totals.tier, items, confidence, law)


def _spread(
    totals: RunningTotalsView, length: int | None, confidence: float, steps: Sequence[int]
) -> tuple[Spread, str]:
    """Return the errors of elements, each of ``steps``, and how exact their intervals are."""
    stated, normal = totals.covariance, normal_quantile(confidence)
    kind = stated.structure["kind"]
    if kind in ("square_root", "buffered"):
        squares = _root(length) if kind == "square_root" else _buffers(length, steps)
        return lambda step: _rounded(totals, squares(step), step, normal), ROUNDED
    forest = _forest(stated, length)
    if totals.mechanism == "gaussian":

        def of_normals(step: int) -> tuple[float, float]:
            deviation = math.sqrt(stated.variance * sum(_apart(forest, step)))
            return deviation, normal * deviation

        return of_normals, EXACT
    noise, level = Laplace(Fraction(totals.granularity)), Fraction(totals.level.value)

    def of_laplace(step: int) -> tuple[float, float]:
        # A weight multiplies the variance of Gaussian noise, and the scale of this one.
        bars = [noise.error(level * weight, confidence) for weight in _apart(forest, step)]
        deviation = math.hypot(*(bar.standard_deviation for bar in bars))
        if len(bars) == 1:
            return deviation, bars[0].half_width
        half_step = totals.granularity / 2
        factor = max(
            (max(bar.half_width, normal * bar.standard_deviation) + half_step)
            / bar.standard_deviation
            for bar in bars
        )
        return deviation, factor * deviation

    return of_laplace, CONSERVATIVE


def _rounded(
    totals: RunningTotalsView, squares: float, step: int, normal: float
) -> tuple[float, float]:
    """Return the error of a difference of totals that are rounded each."""
    variance, unit = totals.covariance.variance * squares, totals.granularity
    count = 1 if step == 1 else 2
    deviation = math.sqrt(variance + count * unit**2 / 12)
    return deviation, normal * math.sqrt(variance) + count * unit / 2


def _root(length: int | None) -> Callable[[int], float]:
    entries = np.cumsum(np.square(np.diff(float_decoder(length or 1), prepend=0.0)))
    return lambda step: float(entries[step - 1])


def _buffers(length: int | None, steps: Sequence[int]) -> Callable[[int], float]:
    # All at once: that is far faster than one by one.
    return dict(zip(steps, element_variances(encoder(length), steps), strict=True)).__getitem__


def _forest(stated: TotalsCovarianceView, length: int | None) -> Forest:
    """Return the tree of a stream, or its epochs."""
    structure = stated.structure
    if structure["kind"] == "smooth_binary":
        return SmoothBinary(length or 0, structure["height"], structure["zeros"])
    if length is None:
        return Epochs(structure["k"], subtracting=structure["subtracting"])
    return KaryTree(length, structure["k"], subtracting=structure["subtracting"])


def _apart(forest: Forest, step: int) -> list[Fraction]:
    """Return the weights of the nodes that only one of an output and the one before has."""
    before = set() if step == 1 else set(chain(forest, forest.node(step - 1)))
    nodes = set(chain(forest, forest.node(step))) ^ before
    return [forest.weight(node) for node in sorted(nodes)]
