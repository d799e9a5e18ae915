"""Provide the statistical tests themselves: every one gives a p-value, read at one rate.

A check is made by ``accept``, which fails a test, or by ``rejects``, which tells whether
a broken variant is found out.  Both read the p-value at ``FALSE_ALARM``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FAMILY_ERROR = 1e-6
CHECKS_A_SUITE = 1_000
FALSE_ALARM = FAMILY_ERROR / CHECKS_A_SUITE

_LEAST_EXPECTED = 25
"""Cells that expect fewer are pooled, so that the chi-squared law fits in its tail."""

_made = 0


def checks_made() -> int:
    """Return how many p-values ``accept`` has read in this process."""
    return _made


def accept(p_value: float, what: str) -> None:
    """Fail unless ``p_value`` is above the suite's false-alarm rate for one check."""
    global _made
    _made += 1
    assert p_value > FALSE_ALARM, f"{what}: p = {p_value:.3g}, rejected at {FALSE_ALARM:g}"


def rejects(p_value: float) -> bool:
    """Return whether a broken variant is found out at the same rate."""
    return p_value <= FALSE_ALARM


@dataclass(frozen=True)
class Pmf:
    """Hold a law on the integers: ``masses[i]`` is the probability of ``first + i``."""

    first: int
    masses: NDArray[np.float64]

    def at(self, value: int) -> float:
        """Return the probability of ``value``."""
        place = value - self.first
        return float(self.masses[place]) if 0 <= place < len(self.masses) else 0.0


@dataclass(frozen=True)
class Cells:
    """Hold a partition of the line at ``edges``, and the exact probability of each part."""

    edges: NDArray[np.int64]
    masses: NDArray[np.float64]

    def of(self, values: NDArray[np.number]) -> NDArray[np.intp]:
        """Return the cell of each value: shape as ``values``."""
        return np.searchsorted(self.edges, values, side="right")


def cells_of(law: Pmf, count: int) -> Cells:
    """Return about ``count`` equally probable cells; every atom above a tenth is one of its own."""
    reached = np.cumsum(law.masses)
    targets = np.arange(1, count) / count
    cuts = np.searchsorted(reached, targets, side="left") + 1
    atoms = np.flatnonzero(law.masses > 0.1)
    inner = np.unique(np.concatenate([cuts, atoms, atoms + 1]))
    inner = inner[(inner > 0) & (inner < len(law.masses))]
    masses = np.add.reduceat(law.masses, np.concatenate([[0], inner]))
    return Cells(law.first + inner.astype(np.int64), masses)


def chi_squared(observed: NDArray[np.integer], expected: NDArray[np.float64]) -> float:
    """Return the P-value of counts against exact expectations of any shape, sparse cells pooled."""
    counts, wanted = pooled(observed, expected)
    statistic = float(((counts - wanted) ** 2 / wanted).sum())
    return float(stats.chi2.sf(statistic, len(wanted) - 1))


def pooled(
    observed: NDArray[np.number], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both in a row, and join the cells that expect too little."""
    counts, wanted = observed.ravel().astype(np.float64), expected.ravel()
    sparse = wanted < _LEAST_EXPECTED
    counts = np.append(counts[~sparse], counts[sparse].sum())
    wanted = np.append(wanted[~sparse], wanted[sparse].sum())
    if wanted[-1] < _LEAST_EXPECTED:
        counts, wanted = _merge_last(counts), _merge_last(wanted)
    return counts, wanted


def joint_chi_squared(parts: Sequence[NDArray[np.number]], cells: Sequence[Cells]) -> float:
    """Return the p-value of independence with the given laws.

    Each of ``parts`` has shape ``(size,)``.
    """
    shape = [len(cell.masses) for cell in cells]
    places = np.ravel_multi_index([c.of(p) for c, p in zip(cells, parts, strict=True)], shape)
    observed = np.bincount(places, minlength=int(np.prod(shape)))
    expected = np.ones(1)
    for cell in cells:
        expected = np.multiply.outer(expected, cell.masses).ravel()
    return chi_squared(observed, expected * len(places))


def same_law(first: NDArray[np.integer], second: NDArray[np.integer]) -> float:
    """Return the P-value of two tables of counts being draws of one law."""
    kept = (first + second) >= 2 * _LEAST_EXPECTED
    table = np.stack([np.append(t[kept], t[~kept].sum()) for t in (first, second)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def uncorrelated(parts: Sequence[NDArray[np.number]]) -> float:
    """Return the P-value of all pairs of ``parts`` being uncorrelated (and independent)."""
    correlations = np.corrcoef(np.stack(parts))
    above = correlations[np.triu_indices(len(parts), 1)]
    statistic = float(len(parts[0]) * (above**2).sum())
    return float(stats.chi2.sf(statistic, len(above)))


def frequency(hits: int, trials: int, probability: float) -> float:
    """Return the P-value of ``hits`` among ``trials`` of the given probability."""
    return float(stats.binomtest(hits, trials, probability).pvalue)


def _merge_last(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.append(values[:-2], values[-2:].sum())
