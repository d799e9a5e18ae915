"""Compute the public ladder of noise levels of a query.

Levels are rungs, so that they are compared as integers and never as floats, and so that
no answer depends on which levels others have been given.
"""

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache

from penstock.errors import InvalidInput

DOUBLING = 709
"""Rungs until the level doubles: adjacent ones are at least ``1 + 2^-10`` apart."""

_KEPT = 256
"""The most levels of one ladder that are kept."""

_SCALE = 64
"""Binary digits of the roots of two that rungs are multiplied by."""


@dataclass(frozen=True)
class Ladder:
    """Hold the allowed levels: ``finest * 2^(rung/doubling)``, rounded up to ``unit``.

    ``finest`` is rung 0 in multiples of ``unit``; the level itself is in the units of
    the mechanism's parameter (a variance, a scale, a mean).  ``last`` is the noisiest
    rung that the query's range admits.  Higher rungs are noisier.
    """

    finest: int
    unit: Fraction
    last: int
    doubling: int = DOUBLING

    @property
    def ratio(self) -> float:
        """Return the ratio of adjacent rungs, except for their rounding."""
        return float(2 ** (1 / self.doubling))

    def value(self, rung: int) -> Fraction:
        """Return the level at ``rung``, exactly.  Raises ``InvalidInput`` outside the ladder."""
        known = self._known.get(rung)
        if known is not None:
            return known
        if not 0 <= rung <= self.last:
            raise InvalidInput(
                f"Rung {rung} is outside of the ladder, which has rungs 0 to {self.last}."
            )
        doublings, step = divmod(rung, self.doubling)
        scaled = self.finest * _roots(self.doubling)[step] << doublings
        level = -(-scaled >> _SCALE) * self.unit
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[rung] = level
        return level

    @cached_property
    def _known(self) -> dict[int, Fraction]:
        """Return the levels that were computed so far: a release needs four of them."""
        return {}

    def rung_at_or_above(self, level: Fraction) -> int:
        """Return the least noisy rung whose level is at least ``level``.

        Raises ``InvalidInput`` when even the last rung is less noisy than that.
        """
        in_units = level / self.unit
        if in_units <= self.finest:
            return 0
        guess = (math.log2(in_units) - math.log2(self.finest)) * self.doubling
        rung = min(max(math.floor(guess) - 1, 0), self.last)
        while rung > 0 and self.value(rung - 1) >= level:
            rung -= 1
        while self.value(rung) < level:
            if rung == self.last:
                raise InvalidInput(
                    f"Level {float(level):g} is noisier than the noisiest level of this query,"
                    f" {float(self.value(self.last)):g}; ask for a level up to that."
                )
            rung += 1
        return rung


@lru_cache
def _roots(doubling: int) -> tuple[int, ...]:
    """Return ``2^(step/doubling)`` for each step, rounded up to multiples of ``2^-64``.

    They are integers, so that a level is the same everywhere; powers of a fraction would be exact
    as well, and take milliseconds at high rungs.  Each root is the one before times the first:
    at 60 digits the errors of all these products are far from the 20 digits that are kept.
    """
    context = Context(prec=60)
    ratio = context.power(Decimal(2), context.divide(Decimal(1), Decimal(doubling)))
    scaled, roots = Decimal(2**_SCALE), []
    for _ in range(doubling):
        roots.append(math.ceil(scaled))
        scaled = context.multiply(scaled, ratio)
    return tuple(roots)
