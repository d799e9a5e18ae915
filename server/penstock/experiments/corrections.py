"""Compute whether answering the worst of many counts again makes the largest error smaller.

Generalized Gaussian noise alone, of powers 1 (Laplace), 2 (Gaussian), 3 and the best one, against
the same with a correction by sparse vector search in its best layout (Ganesh, Zhao 2021).  All
keep one epsilon and delta, a person changing every count by at most 1.  Expected errors are
by quadrature, measured ones of releases drawn from fixed keys.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from penstock.accounting.calibration.corrections import best_correction
from penstock.accounting.calibration.powers import best_power, power_choice
from penstock.experiments.drawing.line_chart import Line, Panel, drawing
from penstock.experiments.drawing.texts import Drawn, described, table
from penstock.experiments.draws import DELTA, check, streams_of
from penstock.mechanisms.generalized_gaussian.mechanism import GeneralizedGaussian
from penstock.mechanisms.generalized_gaussian.sparse_vector_correction import SparseVectorCorrection
from penstock.privacy.sensitivity import Sensitivity

EPSILON = 1.0
POWERS = (Fraction(1), Fraction(2), Fraction(3))
HEADS = (
    *("counts", "power", "scale", "alone", "measured"),
    *("corrected", "measured", "alone over corrected"),
    *("cutoff", "epsilon of the search", "its threshold's part", "threshold", "scale", "again"),
)


@dataclass(frozen=True)
class Setting:
    """Hold how many counts there are, and how many releases of each kind are drawn."""

    counts: tuple[int, ...] = (64, 1024, 16384)
    releases: int = 400


@dataclass(frozen=True)
class Measured:
    """Hold a mean of largest errors, and its standard error."""

    mean: float
    error: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} +- {self.error:.1f}"


@dataclass(frozen=True)
class Row:
    """Hold one power, alone at ``scale`` and with a correction.

    Errors are expected largest ones.
    """

    counts: int
    power: Fraction
    scale: float
    alone: float
    alone_measured: Measured
    correction: SparseVectorCorrection
    corrected: float
    corrected_measured: Measured

    @property
    def gain(self) -> float:
        """Return a ratio that is above 1 where the correction pays."""
        return self.alone / self.corrected

    def cells(self) -> tuple[str, ...]:
        """Return the figures as text; what the layout has is in counts."""
        made, search = self.correction, self.correction.search
        threshold = search.threshold * float(made.first.granularity)
        return (
            *(f"{self.counts}", f"{float(self.power):g}", f"{self.scale:.4g}"),
            *(f"{self.alone:.2f}", f"{self.alone_measured}"),
            *(f"{self.corrected:.2f}", f"{self.corrected_measured}", f"{self.gain:.4f}"),
            *(f"{search.cutoff}", f"{float(search.epsilon):.3f}"),
            f"{float(search.threshold_epsilon / search.epsilon):.2f}",
            *(f"{threshold:.4g}", f"{float(made.scale):.4g}", f"{float(made.anew_scale):.4g}"),
        )


def row(counts: int, power: Fraction, releases: int) -> Row:
    """Calibrate and draw; raise where what is drawn is not as far off as expected."""
    moved = Sensitivity(Fraction(counts), Fraction(counts), Fraction(1))
    alone = power_choice(power, moved, counts, EPSILON, DELTA)
    corrected = best_correction(power, moved, counts, EPSILON, DELTA)
    check(corrected.correction.delta(EPSILON) <= DELTA, "a correction above delta")
    made = Row(
        counts=counts,
        power=power,
        scale=float(alone.level),
        alone=alone.expected_maximum,
        alone_measured=_alone(power, alone.level, counts, releases),
        correction=corrected.correction,
        corrected=corrected.expected_maximum,
        corrected_measured=_corrected(corrected.correction, counts, releases),
    )
    pairs = ((made.alone, made.alone_measured), (made.corrected, made.corrected_measured))
    for expected, measured in pairs:
        near = abs(measured.mean - expected) < 6 * measured.error
        check(near, f"an error of {measured} in place of {expected}")
    return made


def rows(setting: Setting) -> list[Row]:
    """Return all numbers of counts, all powers, the best of each number last."""
    every = []
    for counts in setting.counts:
        moved = Sensitivity(Fraction(counts), Fraction(counts), Fraction(1))
        best = best_power(moved, counts, EPSILON, DELTA).power
        powers = (*POWERS, *({best} - set(POWERS)))
        every += [row(counts, power, setting.releases) for power in powers]
    return every


def _alone(power: Fraction, scale: Fraction, counts: int, releases: int) -> Measured:
    mechanism, _ = GeneralizedGaussian.of(power).plan(scale, Fraction(1), Fraction(0))
    stream = streams_of(f"corrections/{power}/{counts}/alone")()
    drawn = (
        mechanism.increment(Fraction(0), scale, counts, stream) * float(mechanism.granularity)
        for _ in range(releases)
    )
    return _measured([float(np.abs(errors).max()) for errors in drawn])


def _corrected(correction: SparseVectorCorrection, counts: int, releases: int) -> Measured:
    stream = streams_of(f"corrections/{correction.first.power}/{counts}/corrected")()
    exact = np.arange(counts)
    drawn = (correction.release(exact, stream).values - exact for _ in range(releases))
    return _measured([float(np.abs(errors).max()) for errors in drawn])


def _measured(largest: Sequence[float]) -> Measured:
    return Measured(float(np.mean(largest)), float(np.std(largest)) / math.sqrt(len(largest)))


def markdown(every: Sequence[Row]) -> str:
    """Return the table."""
    return table(HEADS, [row.cells() for row in every])


def least_errors(every: Sequence[Row]) -> list[tuple[int, Row, Row]]:
    """Return by number of counts the row with the least error alone, and that corrected."""
    groups = {row.counts: [other for other in every if other.counts == row.counts] for row in every}
    return [
        (
            counts,
            min(group, key=lambda row: row.alone),
            min(group, key=lambda row: row.corrected),
        )
        for counts, group in groups.items()
    ]


def figure(every: Sequence[Row]) -> str:
    """Draw expected errors over the root of the number of counts, against that number."""
    least = least_errors(every)

    def line(name: str, errors: Sequence[tuple[int, float]]) -> Line:
        return Line(name, tuple((float(k), error / math.sqrt(k)) for k, error in errors))

    def of_power(power: int, *, corrected: bool) -> list[tuple[int, float]]:
        group = [row for row in every if row.power == power]
        return [(row.counts, row.corrected if corrected else row.alone) for row in group]

    panel = Panel(
        title="Epsilon 1, delta 1e-6",
        x_label="counts",
        y_label="expected largest error over the root of counts",
        lines=(
            line("Laplace", of_power(1, corrected=False)),
            line("Laplace, corrected", of_power(1, corrected=True)),
            line("Gaussian", of_power(2, corrected=False)),
            line("best power", [(k, alone.alone) for k, alone, _ in least]),
        ),
        x_base=2,
    )
    caption = "It helps noise with long tails, and not that of the best power."
    return drawing("Answering the worst counts again", caption, described([panel]), [panel])


def draw(setting: Setting = Setting()) -> Drawn:
    """Return the drawing, and the table of expected and measured errors."""
    every = rows(setting)
    return Drawn(figure(every), markdown(every))
