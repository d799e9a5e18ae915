"""Provide a thresholded histogram with noise for every key of its domain: the reference.

Andersson, Retschmeier, Nelson, Pagh 2025, Algorithm 3, in any order of levels: one path of
noise for each key, of which a level shows those above its threshold.  Its work is
proportional to the domain.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms import IntVector, Mechanism, draw_anchor, place
from penstock.randomness import Stream
from penstock.structures.sparse_histogram.contents import (
    Ranks,
    Report,
    check_rung,
    report_of,
    support_of,
)
from penstock.structures.sparse_histogram.domain import Domain
from penstock.structures.sparse_histogram.threshold import Thresholds

LARGEST_DOMAIN = 1 << 24


class DenseHistogram:
    """Draw a histogram; ``ranks`` and ``counts`` as for ``SparseHistogram``, at most 2^24 keys."""

    def __init__(
        self,
        mechanism: Mechanism,
        thresholds: Thresholds,
        domain: Domain,
        ranks: Ranks,
        counts: NDArray[np.generic],
        ceiling: int,
        *,
        streams: Callable[[], Stream] = Stream.fresh,
    ) -> None:
        """Draw the noise of all keys at the rung ``ceiling``.  Raises ``InvalidInput``."""
        if domain.size > LARGEST_DOMAIN:
            raise InvalidInput(
                f"{domain.size} keys are too many for noise of each; take a sparse histogram."
            )
        self._mechanism, self._thresholds, self._ceiling = mechanism, thresholds, ceiling
        self._ranks = np.arange(domain.size, dtype=np.uint64)
        self._streams = streams
        support, steps = support_of(domain, ranks, counts, mechanism.granularity)
        exact = np.zeros(domain.size, dtype=np.int64)
        exact[support] = steps
        self._path = {ceiling: draw_anchor(mechanism, exact, self._level(ceiling), streams())}

    def at(self, rung: int) -> Report:
        """Return all keys above the threshold at ``rung``."""
        check_rung(rung, self._ceiling, self._thresholds.ladder)
        if rung not in self._path:
            self._path[rung] = self._draw(rung)
        threshold, granularity = self._thresholds.steps(rung), self._mechanism.granularity
        return report_of(rung, self._ranks, self._path[rung], threshold, granularity)

    def _draw(self, rung: int) -> IntVector:
        below = max(known for known in self._path if known < rung)
        above = min((known for known in self._path if known > rung), default=None)
        return place(
            self._mechanism,
            (self._level(below), self._path[below]),
            None if above is None else (self._level(above), self._path[above]),
            self._level(rung),
            self._streams(),
        )

    def _level(self, rung: int) -> Fraction:
        return self._thresholds.ladder.value(rung)
