"""The public ladder of noise levels of a query.

Levels are rungs, so that they are compared as integers and never as floats, and so that
no answer depends on which levels others have been given.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from penstock.errors import InvalidInput

RATIO = Fraction(1025, 1024)
"""The ratio of adjacent rungs where a structure does not ask for a wider one."""


@dataclass(frozen=True)
class Ladder:
    """The allowed levels of a query: ``unit * ceil(finest * ratio**rung)``.

    ``finest`` is rung 0 in multiples of ``unit``; the level itself is in the units of
    the mechanism's parameter (a variance, a scale, a mean).  ``last`` is the noisiest
    rung that the query's range admits.  Higher rungs are noisier.
    """

    finest: int
    unit: Fraction
    last: int
    ratio: Fraction = RATIO

    def value(self, rung: int) -> Fraction:
        """The level at ``rung``, exactly.  Raises ``InvalidInput`` outside the ladder."""
        if not 0 <= rung <= self.last:
            raise InvalidInput(
                f"Rung {rung} is outside of the ladder, which has rungs 0 to {self.last}."
            )
        return _steps(self.finest, self.ratio, rung) * self.unit

    def rung_at_or_above(self, level: Fraction) -> int:
        """The least noisy rung whose level is at least ``level``.

        Raises ``InvalidInput`` when even the last rung is less noisy than that.
        """
        wanted = level / self.unit
        if wanted <= self.finest:
            return 0
        guess = math.log(wanted / self.finest) / math.log(self.ratio)
        rung = min(max(math.floor(guess) - 1, 0), self.last)
        while rung > 0 and self.value(rung - 1) >= level:
            rung -= 1
        while self.value(rung) < level:
            if rung == self.last:
                raise InvalidInput(
                    f"Level {float(level):g} is noisier than the noisiest that this query"
                    f" offers, {float(self.value(self.last)):g}; ask for a level up to that."
                )
            rung += 1
        return rung


@lru_cache(maxsize=65536)
def _steps(finest: int, ratio: Fraction, rung: int) -> int:
    """``ceil(finest * ratio**rung)`` in integers alone: milliseconds on high rungs, so kept."""
    numerator = finest * int(ratio.numerator**rung)
    return -(-numerator // int(ratio.denominator**rung))
