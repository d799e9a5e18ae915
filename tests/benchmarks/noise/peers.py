"""Provide the noise of other libraries, for comparison alone: none of it is released."""

from collections.abc import Callable

import numpy as np

Peer = Callable[[int], int]
"""Draws that many values and returns how many it drew."""


def numpy_normal() -> Peer:
    """Provide the fastest normals that Python users know.

    They are float64, from a generator that is no cipher.
    """
    # The yardstick is numpy's own generator itself, so nothing of ours can stand in for it.
    generator = np.random.Generator(np.random.PCG64(1))  # noqa: TID251

    def draw(size: int) -> int:
        return len(generator.normal(size=size))

    return draw


def numpy_binomial(trials: int, chance: float) -> Peer:
    """Provide numpy's binomials.

    Their probabilities are off by up to 1e-4 before its version 2.5.
    """
    generator = np.random.Generator(np.random.PCG64(1))  # noqa: TID251 - as above

    def draw(size: int) -> int:
        return len(generator.binomial(trials, chance, size=size))

    return draw


def numpy_poisson(mean: float) -> Peer:
    """Provide numpy's Poisson draws, at any mean of a benchmark as good as ours."""
    generator = np.random.Generator(np.random.PCG64(1))  # noqa: TID251 - as above

    def draw(size: int) -> int:
        return len(generator.poisson(mean, size=size))

    return draw


def opendp(distribution: str, scale: float) -> Peer | None:
    """Return OpenDP's vector mechanism over integers, ``scale`` in lattice steps: the same law.

    ``distribution`` is "gaussian" or "laplace".  None where OpenDP is not installed.
    """
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    metric = {"gaussian": dp.l2_distance, "laplace": dp.l1_distance}[distribution]
    make = {"gaussian": dp.m.make_gaussian, "laplace": dp.m.make_laplace}[distribution]
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    mechanism = make(domain, metric(T="i64"), scale=scale)
    vectors: dict[int, list[int]] = {}

    def draw(size: int) -> int:
        return len(mechanism(vectors.setdefault(size, [0] * size)))

    return draw
