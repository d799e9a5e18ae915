"""Tabulate Poisson and binomial laws of any mean, in integers.

A law is given by the ratios of neighboring probabilities.  From the mode, whose weight is
``2^288``, weights are multiplied by the ratios and rounded down, as far as they are ``2^80`` or
more; a threshold is a sum of weights over all of them.

Error charged per draw: ``ERROR`` in total variation, for up to ``MOST_ENTRIES`` entries ``n``.
Ratios are below 1, so a weight is short by at most one for each step from the mode, and all of them
by ``n^2 / 2`` of ``2^288``.  The weights left out fall at least as fast as the last ratio, which is
below ``1 - 1/n``: less than ``2 n 2^-208`` of the mass.  Thresholds are rounded by ``2^-193`` each.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.inversion.table import Table

MOST_ENTRIES = 1 << 15
ERROR = 2.0**-177
"""Total variation of one draw from its law, at most."""

DRAWS_AN_ENTRY = 5
"""A draw without tables takes so much longer that as many of them pay for an entry."""

ENTRIES_A_LOOK_UP = 400
"""What the cells of a table alone cost, counted in entries."""

_MODE = 1 << 288
_LEAST = 1 << 80
_DEVIATIONS = 34
_MORE = 64

Ratio = tuple[int, int]
"""A numerator and a denominator."""


def entries(variance: float) -> int:
    """Return the least number of entries that hold all weights of a law, or a few more."""
    return math.ceil(_DEVIATIONS * math.sqrt(variance)) + _MORE


def pays(mean: Fraction, size: int) -> bool:
    """Return whether ``size`` Poisson draws are faster with a table."""
    count = entries(float(mean))
    return count <= MOST_ENTRIES and (count + ENTRIES_A_LOOK_UP) * DRAWS_AN_ENTRY <= size


def poisson_table(mean: Fraction) -> Table:
    """Return the table of Poisson integers of a ``mean`` above 0."""
    above, below = mean.numerator, mean.denominator
    mode = math.floor(mean)
    up = ((above, below * k) for k in itertools.count(mode + 1))
    down = ((k * below, above) for k in range(mode, 0, -1))
    return _table(mode, up, down)


def binomial_table(trials: int, chance: Fraction) -> Table:
    """Return the table of successes among ``trials``; ``chance`` is above 0 and below 1."""
    hit, miss = chance.numerator, chance.denominator - chance.numerator
    mode = math.floor((trials + 1) * chance)
    up = ((hit * (trials - k), miss * (k + 1)) for k in range(mode, trials))
    down = ((miss * k, hit * (trials - k + 1)) for k in range(mode, 0, -1))
    return _table(mode, up, down)


def _table(mode: int, up: Iterable[Ratio], down: Iterable[Ratio]) -> Table:
    below = list(_falling(down))
    weights = [*reversed(below), _MODE, *_falling(up)]
    total = sum(weights)
    sums = itertools.accumulate(weights)
    return Table.up_to_certainty(
        ((2 * part * CERTAIN + total) // (2 * total) for part in sums), mode - len(below)
    )


def _falling(ratios: Iterable[Ratio]) -> Iterator[int]:
    """Yield the weights that follow the mode's, until they are negligible."""
    weight = _MODE
    for numerator, denominator in ratios:
        weight = weight * numerator // denominator
        if weight < _LEAST:
            return
        yield weight
