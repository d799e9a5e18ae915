"""Enumerate the integer vectors within three norms, and read their privacy outcome by outcome."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_NEGLIGIBLE = 1e-18
"""The probability of outcomes that are left out, under both hypotheses."""


def admitted(l1: int, l2_squared: int, linf: int) -> list[tuple[int, ...]]:
    """Return all vectors within the norms up to order and signs, the largest shift first."""
    found: list[tuple[int, ...]] = [()]
    for top in range(min(l1, linf, math.isqrt(l2_squared)), 0, -1):
        found += [(top, *rest) for rest in admitted(l1 - top, l2_squared - top * top, top)]
    return found


def signed(vector: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the vector with all signs, up to order."""
    signs = itertools.product((1, -1), repeat=len(vector))
    every = (tuple(s * shift for s, shift in zip(way, vector, strict=True)) for way in signs)
    yield from {tuple(sorted(each)) for each in every}


def outcomes(masses: Floats, vector: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the masses of outcomes under noise shifted by ``vector``, and under noise as it is.

    ``masses`` are those of the noise of each coordinate on adjacent integers.  Outcomes of one loss
    are joined.
    """
    moved, plain = np.ones(1), np.ones(1)
    for shift in vector:
        front, back = np.zeros(max(shift, 0)), np.zeros(max(-shift, 0))
        there = np.concatenate((front, masses, back))
        here = np.concatenate((back, masses, front))
        moved, plain = np.outer(moved, there).ravel(), np.outer(plain, here).ravel()
        kept = np.maximum(moved, plain) > _NEGLIGIBLE
        moved, plain = moved[kept], plain[kept]
        with np.errstate(divide="ignore"):
            losses = np.round(np.log(moved) - np.log(plain), 9)
        _, place = np.unique(losses, return_inverse=True)
        moved = np.bincount(place, moved).astype(np.float64)
        plain = np.bincount(place, plain).astype(np.float64)
    return moved, plain


def divergences(masses: Floats, vector: Sequence[int], epsilons: Floats) -> Floats:
    """Return the hockey-stick divergence of shifted noise from noise at each epsilon."""
    moved, plain = outcomes(masses, vector)
    gains = moved[:, None] - np.exp(epsilons) * plain[:, None]
    return np.asarray(np.maximum(gains, 0.0).sum(axis=0))


def exact_epsilon(masses: Floats, vector: Sequence[int], delta: float) -> float:
    """Return the least epsilon at ``delta`` of shifted noise from noise."""
    moved, plain = outcomes(masses, vector)
    with np.errstate(divide="ignore"):
        order = np.argsort(np.log(plain) - np.log(moved), kind="stable")
    likely, unlikely = np.cumsum(moved[order]), np.cumsum(plain[order])
    tests = likely > delta
    with np.errstate(divide="ignore"):
        ratios = np.log(likely[tests] - delta) - np.log(unlikely[tests])
    return max(float(ratios.max(initial=0.0)), 0.0)
