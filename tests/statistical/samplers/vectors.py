"""Provide levels and sizes of the longest vectors."""

from fractions import Fraction

SIZE, LARGE = 5_000_000, 10_000_000
"""One percent too much noise needs 4.8 million values, by ``sample_sizes``."""


LEVELS = tuple(Fraction(1 << 20) * factor for factor in (1, 2, 4))
