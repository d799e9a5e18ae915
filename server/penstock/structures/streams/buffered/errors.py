"""Compute the variance of outputs of buffered noise, in units of its level.

Floats, which affect no noise and no charge.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.structures.streams.buffered.encoder import Encoder

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_TOGETHER = 64
"""Steps that are computed at once."""


def variances(matrix: Encoder, steps: Iterable[int]) -> Iterator[float]:
    """Yield the variance of the outputs of ``steps`` at a level of 1; it is fast if they rise."""
    yield from _running(matrix, np.eye(len(matrix.exponents) + 1)[-1], steps)


def element_variances(matrix: Encoder, steps: Iterable[int]) -> Iterator[float]:
    """Yield the variance of an output less the one before, as ``variances``.

    The newest noise is in it as a whole; every other one in what the buffers add in a step.
    """
    single, _ = _transition(matrix)
    added = single[-1] - np.eye(len(single))[-1]
    every = list(steps)
    older = _running(matrix, added, (step - 1 for step in every if step > 1))
    for step in every:
        yield 1.0 + (next(older) if step > 1 else 0.0)


def _running(matrix: Encoder, row: Vector, steps: Iterable[int]) -> Iterator[float]:
    """Yield the sum of ``(row F^i h)^2`` over ``i`` below each of ``steps``."""
    single, entry = _transition(matrix)
    rows = np.empty((_TOGETHER, len(entry)))
    rows[0] = row
    for place in range(1, _TOGETHER):
        rows[place] = rows[place - 1] @ single
    jump = np.linalg.matrix_power(single, _TOGETHER)
    before, state, known = 0, entry, np.cumsum(np.square(rows @ entry))
    for step in steps:
        if before + _TOGETHER < step <= before + 2 * _TOGETHER:
            before, state = before + _TOGETHER, jump @ state
            known = known[-1] + np.cumsum(np.square(rows @ state))
        elif not before < step <= before + _TOGETHER:
            before = step - 1
            state = np.linalg.matrix_power(single, before) @ entry
            first = float(row @ _sums(matrix, before)[0] @ row)
            known = first + np.cumsum(np.square(rows @ state))
        yield float(known[step - before - 1])


def squares(matrix: Encoder, steps: int) -> tuple[float, float]:
    """Return the variance of output ``steps``, and the mean of those up to it, at a level of 1."""
    covariance, sums = _sums(matrix, steps)
    return float(covariance[-1, -1]), float(sums[-1, -1]) / steps


@lru_cache(maxsize=64)
def _sums(matrix: Encoder, steps: int) -> tuple[Matrix, Matrix]:
    """Return the covariance ``S`` of the buffers and the output, and the sum ``U`` of those so far.

    They double their steps by ``S(2 t) = S(t) + F^t S(t) F'^t`` and ``U(2 t) = U(t) + t S(t) + F^t
    U(t) F'^t``.
    """
    single, entry = _transition(matrix)
    covariance, sums = np.zeros_like(single), np.zeros_like(single)
    power, at = np.eye(len(entry)), 0
    for bit in format(steps, "b") if steps else "":
        sums = sums + at * covariance + power @ sums @ power.T
        covariance = covariance + power @ covariance @ power.T
        power, at = power @ power, 2 * at
        if bit == "1":
            covariance = single @ covariance @ single.T + np.outer(entry, entry)
            sums, power, at = sums + covariance, single @ power, at + 1
    return covariance, sums


def _transition(matrix: Encoder) -> tuple[Matrix, Matrix]:
    """Return ``F`` and ``h`` as in ``joining.transition``, in floats."""
    size = len(matrix.exponents)
    step = np.zeros((size + 1, size + 1))
    step[:, :size] = [-float(weight) for weight in matrix.weights]
    step[range(size), range(size)] += [float(kept) for kept in matrix.kept]
    step[size, size] = 1.0
    return step, np.ones(size + 1)
