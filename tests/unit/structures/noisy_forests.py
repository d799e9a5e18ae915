"""Provide forests of every kind, and the Laplace noise of two tiers drawn for their nodes."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from penstock.mechanisms import IntVector, Laplace
from penstock.randomness import Stream
from penstock.structures import Epochs, Forest, KaryTree, NodeNoise, balanced, binary_tree

FORESTS: list[Forest] = [
    binary_tree(200),
    KaryTree(100, 3),
    KaryTree(150, 4),
    KaryTree(180, 19),
    balanced(150),
    Epochs(),
    Epochs(5),
]
MECHANISM = Laplace(Fraction(1, 1024))
LEVELS = [Fraction(1), Fraction(4)]


def advance(noise: NodeNoise, steps: int, streams: Callable[[], Stream]) -> IntVector:
    """Return the noise of the next ``steps`` outputs: shape ``(levels, steps, dimension)``."""
    return np.stack(noise.advance(steps, streams))
