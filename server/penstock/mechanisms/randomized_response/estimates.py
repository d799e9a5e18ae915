"""Estimate how many gave each answer, from answers that were drawn at random.

Of ``n`` answers, ``m`` of them true for a category, those drawn for it are the sum of
``Binomial(m, p + (1-p)/k)`` and ``Binomial(n - m, (1-p)/k)``.  Its mean is linear in ``m``, which
gives the estimate; its tails rise with ``m``, which gives an interval of those ``m`` whose tails
are not too small (Clopper, Pearson 1934).  It covers at least its confidence at every ``m``, over
the randomness of the answers alone: ``m`` is a count of the people who answered.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.special import bdtr

from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import check_confidence
from penstock.mechanisms.process import IntVector

_ROUNDING = 1e-10
"""A bound on the absolute error of a tail."""


@dataclass(frozen=True)
class Counted:
    """Hold the unbiased estimate of a count, which may be below 0, and its interval."""

    estimate: float
    low: int
    high: int


def counts(
    answers: IntVector, keep: Fraction, categories: int, confidence: float = 0.95
) -> list[Counted]:
    """Return an estimate and an interval for each category; each interval has the confidence.

    Raises ``InvalidInput`` for a ``keep`` of 0, at which answers say nothing, and of 1 or beyond;
    for a confidence outside of (0, 1), and without an answer.
    """
    check_confidence(confidence)
    if not 0 < keep < 1 or not len(answers):
        raise InvalidInput(
            f"Counts need answers, kept with a probability above 0 and below 1, not {len(answers)}"
            f" kept with {float(keep):g}."
        )
    drawn = np.bincount(answers, minlength=categories)
    size, other = len(answers), float((1 - keep) / categories)
    known: dict[int, tuple[int, int]] = {}
    for number in drawn.tolist():
        if number not in known:
            known[number] = _interval(number, size, float(keep), other, 1 - confidence)
    return [
        Counted((number - size * other) / float(keep), *known[number]) for number in drawn.tolist()
    ]


def _interval(drawn: int, size: int, keep: float, other: float, outside: float) -> tuple[int, int]:
    """Return the least and the largest ``m`` of which both tails at ``drawn`` are large enough."""

    def above(true: int) -> float:
        return float(_law(true, size, keep, other)[drawn:].sum())

    def below(true: int) -> float:
        return float(_law(true, size, keep, other)[: drawn + 1].sum())

    enough = outside / 2 - _ROUNDING
    low = _first(lambda true: above(true) >= enough, size)
    high = size - _first(lambda short: below(size - short) >= enough, size)
    return low, high


def _first(holds: Callable[[int], bool], last: int) -> int:
    """Return the first number for which ``holds``, which it does from there on, or ``last``."""
    low, high = -1, last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _law(true: int, size: int, keep: float, other: float) -> NDArray[np.float64]:
    own, strangers = _binomial(true, keep + other), _binomial(size - true, other)
    law: NDArray[np.float64] = fftconvolve(own, strangers)
    return law


def _binomial(trials: int, chance: float) -> NDArray[np.float64]:
    law: NDArray[np.float64] = np.diff(bdtr(np.arange(trials + 1), trials, chance), prepend=0.0)
    return law
