"""Compute the margin of error of running totals at each step, from the structure's noises."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil, exp, log
from statistics import NormalDist

import numpy as np

from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.views import ErrorView
from penstock.structures.streams.buffered.encoder import encoder
from penstock.structures.streams.buffered.errors import variances
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
    by_step = np.cumsum(np.square(float_decoder(length)))
    return _rounded_errors((float(by_step[step - 1]) for step in steps), lattice, process, rung)


def buffered_errors(
    length: int | None, lattice: Fraction, process: Process, rung: int, steps: Iterable[int]
) -> Iterator[ErrorView]:
    """Yield the margin of error of the totals after each of ``steps``, for buffers.

    It includes the rounding to ``lattice``.  Variances are rounded up by less than a millionth, so
    that most of many steps have the error of the step before.
    """
    by_step = (_a_little_above(each) for each in variances(encoder(length), steps))
    return _rounded_errors(by_step, lattice, process, rung)


def _a_little_above(variance: float) -> float:
    # What floats are off by must not move a variance to another step of the grid.
    return exp(ceil(log(variance) * (1 << 20) - 2.0**-10) / (1 << 20))


def _rounded_errors(
    by_step: Iterable[float], lattice: Fraction, process: Process, rung: int
) -> Iterator[ErrorView]:
    """Yield the margin of error of totals of these variances, in units of the level's."""
    level, unit = float(process.ladder.value(rung)), float(lattice)
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    before, error = -1.0, None
    for each in by_step:
        if error is None or each != before:
            before, variance = each, level * each
            error = ErrorView(
                standard_deviation=(variance + unit**2 / 12) ** 0.5,
                confidence=CONFIDENCE,
                half_width=_reaching(quantile * variance**0.5 + unit / 2, unit),
            )
        yield error


def _reaching(width: float, lattice: float) -> float:
    """Return the least multiple of ``lattice`` that is not below ``width``."""
    return ceil(width / lattice) * lattice
