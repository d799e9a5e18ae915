"""Provide the histogram of four keys over all 64-bit integers that tests here release."""

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from itertools import count

import numpy as np

from penstock.randomness import Stream
from penstock.structures.sparse_histogram import (
    SparseHistogram,
    Thresholds,
    Uint64,
    plan,
)

MECHANISM, LADDER = plan(Fraction(25), Fraction(1), Fraction(2**31))
CEILING = LADDER.rung_at_or_above(Fraction(25))
DOMAIN = Uint64()
THRESHOLDS = Thresholds(LADDER, MECHANISM.granularity, DOMAIN.size, {CEILING: 20.0})
ORDERS = [(0, 40, 80), (80, 40, 0), (40, 80, 0, 41)]
RANKS = np.array([2**63, 5, 2**64 - 1, 77], dtype=np.uint64)
COUNTS = np.array([500, 400, 300, 0])
TIERS = {100: 1.0, 200: 3.0}
"""False keys that two tiers expect, by their rungs."""

HUGE = Thresholds(LADDER, MECHANISM.granularity, DOMAIN.size, TIERS)


def keyed(label: str) -> Callable[[], Stream]:
    numbers = count()
    return lambda: Stream.from_key(sha256(f"{label}/{next(numbers)}".encode()).digest())


def histogram(label: str = "one") -> SparseHistogram:
    return SparseHistogram(
        MECHANISM, THRESHOLDS, DOMAIN, RANKS, COUNTS, CEILING, streams=keyed(label)
    )
