"""How far off running totals may be: the bars of each step, as the structure adds noises up."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import ceil
from statistics import NormalDist

import numpy as np

from penstock.services.computations.stream_structure import Shape
from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.views import ErrorView
from penstock.structures.streams.forest import chain
from penstock.structures.streams.root_matrices import float_decoder
from penstock.structures.streams.spread import laplace_half_width, weights


def errors(shape: Shape, process: Process, rung: int, steps: Iterable[int]) -> Iterator[ErrorView]:
    """Of the totals after each of ``steps``, each of their numbers."""
    if shape.is_root:
        return _of_root(shape, process, rung, steps)
    return _of_forest(shape, process, rung, steps)


def _of_forest(
    shape: Shape, process: Process, rung: int, steps: Iterable[int]
) -> Iterator[ErrorView]:
    known: dict[object, ErrorView] = {}
    for node in _nodes(shape, steps):
        # In all but endless streams every node has the same weight.
        alike: object = (
            weights(shape.forest, node)
            if shape.length is None
            else sum(1 for _ in chain(shape.forest, node))
        )
        if alike not in known:
            known[alike] = _of_sum(process, rung, weights(shape.forest, node))
        yield known[alike]


def _nodes(shape: Shape, steps: Iterable[int]) -> Iterator[int]:
    """The nodes of the outputs of these steps; few of them have different errors."""
    before = node = 0
    for step in steps:
        near = before > 0 and step == before + 1
        node = shape.forest.following(before, node) if near else shape.forest.node(step)
        before = step
        yield node


def _of_sum(process: Process, rung: int, all_weights: Sequence[Fraction]) -> ErrorView:
    mechanism, level = process.mechanism, process.ladder.value(rung)
    if mechanism.name == "gaussian" or len(all_weights) == 1:
        # Of one law as a sum; so is a single node, exactly.
        bars = mechanism.error(level * sum(all_weights), CONFIDENCE)
        return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
    scales = [weight * level for weight in all_weights]
    each = [mechanism.error(scale, CONFIDENCE).standard_deviation for scale in scales]
    width = laplace_half_width(all_weights, CONFIDENCE) * float(level)
    return ErrorView(
        standard_deviation=sum(one * one for one in each) ** 0.5,
        confidence=CONFIDENCE,
        half_width=_reaching(width, float(mechanism.granularity)),
    )


def _of_root(
    shape: Shape, process: Process, rung: int, steps: Iterable[int]
) -> Iterator[ErrorView]:
    """Every noise until then, each with its entry of ``L``; and the rounding."""
    variances = np.cumsum(np.square(float_decoder(shape.length or 0)))
    level, lattice = float(process.ladder.value(rung)), float(shape.granularity(process))
    quantile = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    for step in steps:
        variance = level * float(variances[step - 1])
        yield ErrorView(
            standard_deviation=(variance + lattice**2 / 12) ** 0.5,
            confidence=CONFIDENCE,
            half_width=_reaching(quantile * variance**0.5 + lattice / 2, lattice),
        )


def _reaching(width: float, lattice: float) -> float:
    """The least multiple of ``lattice`` that is not below ``width``."""
    return ceil(width / lattice) * lattice
