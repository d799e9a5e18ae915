"""Compute what one guarantee buys: the noise of each mechanism for one statistic, side by side.

One value, which one person changes by at most 1, at equal epsilon and delta.  Exact
figures are those of the lattice law at the level that calibration finds; measured ones
are of noise drawn by the mechanism, from fixed keys.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from penstock.accounting.calibration.levels import level_for
from penstock.experiments.drawing.texts import Drawn
from penstock.experiments.draws import DELTA, UNIT_CHANGE, check, streams_of
from penstock.mechanisms import MECHANISMS
from penstock.mechanisms.multiple_release import draw_anchor, released
from penstock.privacy.guarantee import ErrorBars
from penstock.privacy.target import Target, TargetKind

EPSILONS = (0.1, 0.5, 1.0, 2.0)
CONFIDENCE = 0.95
HEADS = (
    *("epsilon", "mechanism", "parameter", "level"),
    *("standard deviation", "measured", "95% within", "measured"),
)


@dataclass(frozen=True)
class Setting:
    """Hold how many values are drawn a row."""

    values: int = 400_000


@dataclass(frozen=True)
class Row:
    """Hold one mechanism at one epsilon; ``exact`` of its law, ``measured`` of what it drew."""

    epsilon: float
    mechanism: str
    parameter: str
    level: float
    exact: ErrorBars
    measured: ErrorBars

    def cells(self) -> tuple[str, ...]:
        """Return the figures as text, each exact one before what was measured."""
        both = (self.exact, self.measured)
        deviations = [bars.standard_deviation for bars in both]
        figures = (self.level, *deviations, *(bars.half_width for bars in both))
        shown = (f"{figure:.4g}" for figure in figures)
        return f"{self.epsilon:g}", self.mechanism, self.parameter, *shown


def row(name: str, epsilon: float, values: int) -> Row:
    """Calibrate, draw ``values`` times, and raise where what is drawn has another law."""
    kind = MECHANISMS[name]
    target = Target(TargetKind.EPSILON, epsilon)
    level = level_for(kind(Fraction(1)), target, UNIT_CHANGE, DELTA)
    mechanism, _ = kind.plan(level, Fraction(1), Fraction(0))
    exact = mechanism.error(level, CONFIDENCE)
    stream = streams_of(f"utilities/{name}/{epsilon}")()
    zeros = np.zeros(values, dtype=np.int64)
    drawn = released(mechanism, draw_anchor(mechanism, zeros, level, stream))
    errors = np.abs(drawn * float(mechanism.granularity) - float(mechanism.bias(level)))
    deviation = math.sqrt(float(np.mean(errors**2)))
    measured = ErrorBars(deviation, CONFIDENCE, float(np.quantile(errors, CONFIDENCE)))
    # A law on whole numbers reaches more than the confidence: its last step is counted whole.
    reached = float(np.mean(errors <= exact.half_width))
    least = CONFIDENCE - 6 * math.sqrt(CONFIDENCE * (1 - CONFIDENCE) / values)
    check(reached > least, f"{reached} within the interval")
    near = abs(deviation / exact.standard_deviation - 1) < 3 * math.sqrt(5 / values)
    check(near, f"a deviation of {deviation}")
    return Row(epsilon, name, mechanism.parameter, float(level), exact, measured)


def rows(setting: Setting, names: Sequence[str] = tuple(MECHANISMS)) -> list[Row]:
    """Return all epsilons, all mechanisms."""
    return [row(name, epsilon, setting.values) for epsilon in EPSILONS for name in names]


def markdown(every: Sequence[Row]) -> str:
    """Return the table, in units of the statistic."""
    lines = [" | ".join(HEADS), "---:|---|---" + "|---:" * 5]
    lines += [" | ".join(row.cells()) for row in every]
    return "\n".join(f"| {line} |" if "---" not in line else f"|{line}|" for line in lines)


def draw(setting: Setting = Setting()) -> Drawn:
    """Return the table; it has no drawing."""
    return Drawn(None, markdown(rows(setting)))
