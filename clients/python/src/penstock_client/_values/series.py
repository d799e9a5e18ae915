"""Compute the noise of differences of totals that every noise so far is in.

Total ``t`` has the noise of each step ``s`` up to it, times ``L[t - s]``; less the total before it,
times the coefficient of ``(1 - x) L``, whose squares are added up to those of ``t`` steps.  With
the square root ``L`` is ``1/sqrt(1 - x)`` (Henzinger, Upadhyay, Upadhyay 2023), and with buffers
``1/((1 - x) R(x))`` (Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024).  Both sums are given at
any step, without all steps before it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Protocol

from penstock_client._http.fields import Fields
from penstock_client._values.interval import require_confidence

ROUNDED = "exact for Gaussian noise, and wider by how totals are rounded"

NEAR = 2048
"""How many steps buffers are run for, rather than to double them from the first step."""

FEW = 32
"""From this step on the coefficients of the square root are those of a series, to every digit."""


class Squares(Protocol):
    """Represent the sum of squares of the coefficients of ``(1 - x) L``."""

    def up_to(self, steps: int) -> float:
        """Return the sum over the first ``steps`` coefficients."""
        ...


@dataclass
class Series:
    """Hold the ``squares`` of a stream's coefficients, and the variance of the noise of a step."""

    variance: float
    granularity: float
    squares: Squares = field(repr=False)

    @classmethod
    def read_or_none(cls, covariance: Fields, granularity: float) -> "Series | None":
        """Return the series of a stream with the square root or buffers; else ``None``."""
        variance, kind = covariance.positive("variance"), covariance.child("structure").text("kind")
        if kind == "square_root":
            return cls(variance, granularity, Root())
        if kind == "buffered":
            weights, decays = covariance.vector("weights"), covariance.vector("decays")
            return cls(variance, granularity, Buffers(weights, decays))
        return None

    def of_element(self, step: int, confidence: float) -> tuple[float, float, str]:
        """Return the standard deviation and half width of a total less the one before, and its law.

        The total before the first is 0.  Raises ``InvalidArgument`` for a confidence outside (0,
        1).
        """
        require_confidence(confidence)
        totals = 1 if step == 1 else 2
        spread = self.variance * self.squares.up_to(step)
        deviation = math.sqrt(spread + totals * self.granularity**2 / 12)
        normal = -NormalDist().inv_cdf((1 - confidence) / 2)
        return deviation, normal * math.sqrt(spread) + totals * self.granularity / 2, ROUNDED


class Root:
    """Add up the squares of the square root's coefficients, those of ``sqrt(1 - x)``.

    With ``c_t`` the coefficient of ``1/sqrt(1 - x)`` at ``t``, the sum over the first ``t`` is
    ``4 t^2 (4 t - 3) (c_t / (2 t - 1))^2``: 1 for ``t = 1``, and from ``t`` to ``t + 1`` it grows
    by ``(c_t / (2 t - 1))^2`` (Gosper 1978), the square of the next coefficient.
    """

    def up_to(self, steps: int) -> float:
        """Return the sum over the first ``steps`` coefficients."""
        entry = _root_entry(steps) / (2 * steps - 1)
        return 4 * steps * (steps * (entry * entry)) * (4 * steps - 3)


def _root_entry(step: int) -> float:
    """Return ``binomial(2 t, t) / 4^t``; from ``FEW`` on by Stirling's series, off by 2^-53."""
    if step < FEW:
        return math.comb(2 * step, step) / (1 << 2 * step)
    inverse = 1 / step
    square = inverse * inverse
    series = -1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * 17 / 14336))
    return math.exp(inverse * series) / math.sqrt(math.pi * step)


Matrix = list[list[float]]


@dataclass
class Buffers:
    """Add up the squares of what is added to a total at each step after a single noise of 1.

    The first is 1; then all buffers are 1, and in each step ``-sum of w_i b_i`` is added, to the
    total and, after each has kept its part, to every buffer.  From the first step to ``t`` that is
    run by doubling: ``C(2 t) = C(t) + F^t C(t) F'^t`` for the sum ``C`` of ``b b'``, where ``F``
    is what a step does to the buffers.
    """

    weights: tuple[float, ...]
    decays: tuple[float, ...]
    _step: int = field(default=1, repr=False)
    _sum: float = field(default=1.0, repr=False)
    _now: list[float] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self._now = [1.0] * len(self.weights)

    def up_to(self, steps: int) -> float:
        """Return the sum over the first ``steps`` coefficients; it is fast if steps rise."""
        if not self._step <= steps <= self._step + NEAR:
            self._step, (self._sum, self._now) = steps, self._doubled(steps - 1)
        for _ in range(steps - self._step):
            added = -_dot(self.weights, self._now)
            self._now = [d * b + added for d, b in zip(self.decays, self._now, strict=True)]
            self._sum += added * added
        self._step = steps
        return self._sum

    def _doubled(self, count: int) -> tuple[float, list[float]]:
        """Return the sum and the buffers ``count`` steps after the first."""
        size = len(self.weights)
        single = [
            [
                (self.decays[row] if row == column else 0.0) - w
                for column, w in enumerate(self.weights)
            ]
            for row in range(size)
        ]
        ones = [[1.0] * size for _ in range(size)]
        power = [[float(row == column) for column in range(size)] for row in range(size)]
        sums = [[0.0] * size for _ in range(size)]
        for bit in format(count, "b") if count else "":
            sums = _plus(sums, _both(power, sums))
            power = _times(power, power)
            if bit == "1":
                sums = _plus(_both(single, sums), ones)
                power = _times(single, power)
        inner = [_dot(self.weights, row) for row in sums]
        return 1.0 + _dot(self.weights, inner), [math.fsum(row) for row in power]


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return math.fsum(map(float.__mul__, first, second))


def _times(first: Matrix, second: Matrix) -> Matrix:
    columns = list(zip(*second, strict=True))
    return [[_dot(row, column) for column in columns] for row in first]


def _both(outer: Matrix, inner: Matrix) -> Matrix:
    """Return ``outer inner outer'``."""
    left = _times(outer, inner)
    return [[_dot(row, other) for other in outer] for row in left]


def _plus(first: Matrix, second: Matrix) -> Matrix:
    return [list(map(float.__add__, *rows)) for rows in zip(first, second, strict=True)]
