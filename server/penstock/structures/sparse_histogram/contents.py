"""Define what a histogram holds and what it reports: the support, and keys above a threshold."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.lattice import lattice_steps
from penstock.mechanisms.process import IntVector
from penstock.privacy.level import Ladder
from penstock.structures.sparse_histogram.domain import Domain

Ranks = NDArray[np.uint64]

KeyNoise = Gaussian | Laplace
"""The mechanisms of histograms: those for which the law of a silent key's noise is known."""


@dataclass(frozen=True)
class Report:
    """Hold the keys above the threshold at one level, in the domain's order, and their values.

    ``ranks`` and ``steps`` have shape ``(keys,)``; a value is its steps times the
    granularity.  The order reveals nothing, as it is that of the ranks.
    """

    rung: int
    ranks: Ranks
    steps: IntVector
    granularity: Fraction

    @property
    def values(self) -> NDArray[np.float64]:
        """Return the noisy counts, in units of counts: shape ``(keys,)``."""
        return self.steps.astype(np.float64) * float(self.granularity)


class Releasing(Protocol):
    """Release a histogram at any rung, in any order.

    Repeated calls at a rung return the same report.
    """

    def at(self, rung: int) -> Report:
        """Return the report at ``rung``.  Raises ``InvalidInput`` above the ceiling."""
        ...


def report_of(
    rung: int, ranks: Ranks, steps: IntVector, threshold: int, granularity: Fraction
) -> Report:
    """Return the report at ``rung``, given all keys with noise by increasing rank."""
    above = steps > threshold
    return Report(rung, ranks[above], steps[above], granularity)


def joined(ranks: Ranks, steps: IntVector) -> IntVector:
    """Return keys and their numbers as one vector of integers: the bits of ranks, then steps."""
    return np.concatenate([ranks.view(np.int64), steps])


def parted(vector: IntVector) -> tuple[Ranks, IntVector]:
    """Split a vector that ``joined`` made into ranks and steps."""
    ranks, steps = np.split(vector, 2)
    return np.ascontiguousarray(ranks).view(np.uint64), steps


def support_of(
    domain: Domain, ranks: Ranks, counts: NDArray[np.generic], granularity: Fraction
) -> tuple[Ranks, IntVector]:
    """Return the keys whose count is not 0, by increasing rank, and their counts in steps.

    Raises ``InvalidInput``, which names no key, if a key is given twice or is outside the
    domain, and for counts off the lattice.
    """
    if len(ranks) != len(counts):
        raise InvalidInput(
            f"There are {len(ranks)} keys and {len(counts)} counts. Give one count for each key."
        )
    if not len(ranks):
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    order = np.argsort(ranks, kind="stable")
    ordered = ranks[order].astype(np.uint64)
    if (ordered[1:] == ordered[:-1]).any() or int(ordered[-1]) >= domain.size:
        raise InvalidInput(
            "A key is given twice, or is outside the domain. Give each key of the domain once."
        )
    exact = lattice_steps(counts, granularity)[order]
    return ordered[exact != 0], exact[exact != 0]


def check_rung(rung: int, ceiling: int, ladder: Ladder) -> None:
    """Raise ``InvalidInput`` for a rung outside the ladder, or more accurate than the ceiling."""
    ladder.value(rung)
    if rung < ceiling:
        raise InvalidInput(
            f"Rung {rung} is more accurate than the ceiling, rung {ceiling}. Request rung"
            f" {ceiling} or a higher one."
        )
