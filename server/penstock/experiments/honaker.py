"""Provide Honaker's estimator from below: a baseline that the other trees are measured against.

Honaker 2015 (*Efficient Use of Differentially Private Binary Trees*): a node of a binary tree
is measured by its own noisy sum and by those of its children together; averaging them by their
precision takes up to half of the variance off.  All nodes stay in the state.
"""

import math
from fractions import Fraction

from penstock.structures.streams.forest import check_length


def height_of(length: int) -> int:
    """Return the levels of the tree, without its root, over ``length`` steps."""
    check_length(length)
    return math.ceil(math.log2(length + 1))


def node_variance(level: int) -> Fraction:
    """Return the variance of a node's estimate over that of its noise; leaves are level 0."""
    return Fraction(1 << level, (1 << (level + 1)) - 1)


def mean_weight(length: int) -> float:
    """Return the mean over all steps of an output's variance, in nodes; bit by bit, for any length.

    Raises ``InvalidInput`` for a length below 1.
    """
    check_length(length)
    total = 0.0
    for level in range(length.bit_length()):
        block = 1 << level
        periods, rest = divmod(length + 1, 2 * block)
        total += float(node_variance(level)) * (periods * block + max(rest - block, 0))
    return total / length


def largest_weight(length: int) -> float:
    """Return the largest over all steps of an output's variance, in nodes."""
    check_length(length)
    best, above = 0.0, 0.0
    for level in range(length.bit_length() - 1, -1, -1):
        if length >> level & 1:
            # Any step that is smaller from this bit on may have all ones below.
            below = sum(float(node_variance(each)) for each in range(level))
            best = max(best, above + below)
            above += float(node_variance(level))
    return max(best, above)
