"""Compute what many releases cost: Figure 2 of Andersson, Retschmeier, Nelson, Pagh (2025).

``k`` readers have budgets that rise in equal steps up to that of the most trusted, and
everything that anybody gets must be private at that one budget together.  Three ways to
serve them, distinguished by the variance that the most trusted reader gets, as a multiple of
what a single release at the whole budget would have:

* *lossless*: one path, its most accurate level at the whole budget;
* *split*: independent releases, each from the budget that its reader has beyond the one
  before; the steps are equal, so that each of them gets a ``k``-th (the paper's baseline);
* *doubling*: independent releases, each of twice the deviation of the one before, which
  halves its epsilon: for Laplace exactly, for the others nearly (Ligett et al. 2017).

Exact values are those of the lattice laws, at levels that the accountant finds; measured
ones are of noise drawn by the mechanisms, from fixed keys.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.accounting.calibration.levels import level_for
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.accounting.reporting.report import composed_epsilon
from penstock.experiments.drawing.strategy_chart import Line, drawing
from penstock.experiments.drawing.texts import Drawn
from penstock.experiments.draws import DELTA, UNIT_CHANGE, check, streams_of
from penstock.mechanisms import MECHANISMS
from penstock.mechanisms.multiple_release import MultipleRelease, draw_anchor, released
from penstock.mechanisms.process import Mechanism
from penstock.privacy.level import Ladder
from penstock.privacy.target import Target, TargetKind
from penstock.randomness.stream import Stream

EPSILON = 1.0
STRATEGIES = ("lossless", "split", "doubling")
RELEASES = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True)
class Setting:
    """Hold how many values a release draws, and which numbers of releases are looked at."""

    values: int = 200_000
    releases: tuple[int, ...] = RELEASES


@dataclass(frozen=True)
class Point:
    """Hold the most trusted reader's variance, in multiples of a single release's."""

    mechanism: str
    strategy: str
    releases: int
    exact: float
    measured: float


class Single:
    """Hold one release at the whole budget, on the rung that the product would choose."""

    def __init__(self, kind: type[Mechanism]) -> None:
        target = Target(TargetKind.EPSILON, EPSILON)
        level = level_for(kind(Fraction(1)), target, UNIT_CHANGE, DELTA)
        self.mechanism, self.ladder = kind.plan(level, Fraction(1), Fraction(0))
        self.level = self.ladder.value(self.ladder.rung_at_or_above(level))
        self.variance = variance(self.mechanism, self.level)
        self.epsilon = self.together([self.level])

    @property
    def quadruple(self) -> int:
        """Return by what a level is multiplied for twice the deviation."""
        return 2 if self.mechanism.parameter == "scale" else 4

    def together(self, levels: Sequence[Fraction]) -> float:
        """Return the tight epsilon of independent releases at ``levels``."""
        name, granularity = self.mechanism.name, self.mechanism.granularity
        return composed_epsilon(
            [PlacedRelease(name, granularity, level, UNIT_CHANGE) for level in levels], DELTA
        )

    def levels(self, strategy: str, releases: int) -> list[Fraction]:
        """Return where each reader's release is, the most accurate first."""
        if strategy == "lossless" or releases == 1:
            return [self.level * releases / part for part in range(releases, 0, -1)]
        if strategy == "split":
            shape = [self.level] * releases
        else:
            shape = [self.level * self.quadruple**place for place in range(releases)]
        factor = self._least_factor(shape)
        return [level * factor for level in shape]

    def _least_factor(self, shape: Sequence[Fraction]) -> Fraction:
        """Return by what ``shape`` must be made noisier for all of it to cost one release."""
        from scipy.optimize import brentq

        def excess(logarithm: float) -> float:
            factor = Fraction(math.exp(logarithm))
            return self.together([level * factor for level in shape]) - self.epsilon

        most = math.log(1.1 * len(shape))
        while excess(most) > 0:  # Skellam noise loses its lead on Gaussian noise as it widens
            most += 0.2
        return Fraction(math.exp(brentq(excess, 0.0, most, xtol=1e-6, rtol=1e-9)))


def variance(mechanism: Mechanism, level: Fraction) -> float:
    """Return the variance of the lattice law, in squared units of the values."""
    return mechanism.error(level, 0.95).standard_deviation ** 2


def exact_ratio(single: Single, strategy: str, releases: int) -> float:
    """Return the variance of the most trusted reader's release over a single one's."""
    return variance(single.mechanism, single.levels(strategy, releases)[0]) / single.variance


def measured_ratio(single: Single, strategy: str, releases: int, size: int) -> float:
    """Return the same, of noise that is drawn for all readers; check each one's variance."""
    streams = streams_of(f"figure2/{single.mechanism.name}/{strategy}/{releases}")
    levels = single.levels(strategy, releases)
    if strategy == "lossless":
        drawn = _on_a_path(single.mechanism, single.ladder, levels, size, streams)
    else:
        drawn = _independently(single.mechanism, levels, size, streams)
    squares = []
    for level, noise in zip(levels, drawn, strict=True):
        squares.append(float(np.mean(noise**2)))
        ratio = squares[-1] / variance(single.mechanism, level)
        # Six deviations of what a law of kurtosis 6 gives, and the width of a rung.
        check(abs(ratio - 1) < 6 * math.sqrt(5 / size) + 0.002, f"a variance off by {ratio}")
    return squares[0] / single.variance


def _on_a_path(
    mechanism: Mechanism,
    ladder: Ladder,
    levels: Sequence[Fraction],
    size: int,
    streams: Callable[[], Stream],
) -> Iterator[NDArray[np.float64]]:
    """Yield the library's own releases; every other one first, so that most are bridges.

    What others have beyond the most trusted reader's is noise that tells nothing of it:
    their releases are no help to somebody who has the best.
    """
    release = MultipleRelease(
        mechanism, ladder, np.zeros(size, dtype=np.int64), levels[0], streams=streams
    )
    for level in levels[::-2]:
        release.at(level)
    best = release.at(levels[0])
    for level in levels:
        noise = release.at(level)
        if level != levels[0]:
            correlation = float(np.corrcoef(best, noise - best)[0, 1])
            check(abs(correlation) < 6.5 / math.sqrt(size), f"a correlation of {correlation}")
        yield noise


def _independently(
    mechanism: Mechanism, levels: Sequence[Fraction], size: int, streams: Callable[[], Stream]
) -> Iterator[NDArray[np.float64]]:
    zeros = np.zeros(size, dtype=np.int64)
    for level in levels:
        kept = draw_anchor(mechanism, zeros, level, streams())
        noise = released(mechanism, kept).astype(np.float64)
        noise *= float(mechanism.granularity)
        noise -= float(mechanism.bias(level))
        yield noise


def points(setting: Setting, names: Sequence[str] = tuple(MECHANISMS)) -> list[Point]:
    """Return all mechanisms, all strategies, all numbers of releases."""
    every = []
    for name in names:
        single = Single(MECHANISMS[name])
        for strategy in STRATEGIES:
            for releases in setting.releases:
                exact = exact_ratio(single, strategy, releases)
                measured = measured_ratio(single, strategy, releases, setting.values)
                every.append(Point(name, strategy, releases, exact, measured))
    return every


def markdown(every: Sequence[Point], *, measured: bool = False) -> str:
    """Return the table: a row for each mechanism and strategy, exact values or measured ones."""
    releases = sorted({point.releases for point in every})
    lines = [
        "| mechanism | strategy | " + " | ".join(str(number) for number in releases) + " |",
        "|---|---|" + "---:|" * len(releases),
    ]
    for mechanism, strategy in dict.fromkeys((point.mechanism, point.strategy) for point in every):
        cells = [
            f"{point.measured if measured else point.exact:.2f}"
            for point in every
            if (point.mechanism, point.strategy) == (mechanism, strategy)
        ]
        lines.append(f"| {mechanism} | {strategy} | {' | '.join(cells)} |")
    return "\n".join(lines)


def lines_of(every: Sequence[Point]) -> list[Line]:
    """Return the points as the drawing takes them."""
    return [
        Line(
            mechanism,
            strategy,
            tuple(
                (point.releases, point.exact, point.measured)
                for point in every
                if (point.mechanism, point.strategy) == (mechanism, strategy)
            ),
        )
        for mechanism, strategy in dict.fromkeys(
            (point.mechanism, point.strategy) for point in every
        )
    ]


def figure(every: Sequence[Point]) -> str:
    """Return the drawing of the points."""
    return drawing(lines_of(every), EPSILON, DELTA)


def draw(setting: Setting = Setting()) -> Drawn:
    """Return the drawing, and the tables of exact and of measured values."""
    every = points(setting)
    exact, measured = markdown(every), markdown(every, measured=True)
    return Drawn(figure(every), f"Exact:\n{exact}\nMeasured:\n{measured}")
