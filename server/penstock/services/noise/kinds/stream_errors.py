"""Compute the margin of error of running totals at each step, from the structure's noises."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil
from statistics import NormalDist

import numpy as np

from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.views import ErrorView
from penstock.structures.streams.forest import Forest, chain
from penstock.structures.streams.root_matrices import float_decoder
from penstock.structures.streams.spread import laplace_half_width, weights


def forest_errors(
    forest: Forest, process: Process, rung: int, steps: Iterable[int], *, endless: bool
) -> Iterator[ErrorView]:
    """Yield the margin of error of the totals after each of ``steps``, for a tree or epochs."""
    known: dict[object, ErrorView] = {}
    for node in _nodes(forest, steps):
        # In all but endless streams every node has the same weight.
        alike: object = weights(forest, node) if endless else sum(1 for _ in chain(forest, node))
        if alike not in known:
            known[alike] = _of_sum(process, rung, weights(forest, node))
        yield known[alike]


def _nodes(forest: Forest, steps: Iterable[int]) -> Iterator[int]:
    """Yield the nodes of the outputs of these steps; few steps have different errors."""
    before = node = 0
    for step in steps:
        near = before > 0 and step == before + 1
        node = forest.following(before, node) if near else forest.node(step)
        before = step
        yield node


def _of_sum(process: Process, rung: int, all_weights: Sequence[Fraction]) -> ErrorView:
    mechanism, level = process.mechanism, process.ladder.value(rung)
    if mechanism.name == "gaussian" or len(all_weights) == 1:
        # A sum of noises of one law; exact for a single node.
        bars = mechanism.error(level * sum(all_weights), CONFIDENCE)
        return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
    scales = [weight * level for weight in all_weights]
    deviations = [mechanism.error(scale, CONFIDENCE).standard_deviation for scale in scales]
    width = laplace_half_width(all_weights, CONFIDENCE) * float(level)
    return ErrorView(
        standard_deviation=sum(deviation * deviation for deviation in deviations) ** 0.5,
        confidence=CONFIDENCE,
        half_width=_reaching(width, float(mechanism.granularity)),
    )


def root_errors(
    length: int, lattice: Fraction, process: Process, rung: int, steps: Iterable[int]
) -> Iterator[ErrorView]:
    """Yield the margin of error of the totals after each of ``steps``, for the square root.

    It includes every noise up to that step, weighted by its entry of ``L``, and the rounding to
    ``lattice``.
    """
    variances = np.cumsum(np.square(float_decoder(length)))
    level, unit = float(process.ladder.value(rung)), float(lattice)
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    for step in steps:
        variance = level * float(variances[step - 1])
        yield ErrorView(
            standard_deviation=(variance + unit**2 / 12) ** 0.5,
            confidence=CONFIDENCE,
            half_width=_reaching(quantile * variance**0.5 + unit / 2, unit),
        )


def _reaching(width: float, lattice: float) -> float:
    """Return the least multiple of ``lattice`` that is not below ``width``."""
    return ceil(width / lattice) * lattice
