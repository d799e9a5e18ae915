"""Compute running sums by the papers' structures: their errors, as tables and as drawings.

* *Count on Your Elders* (Andersson, Pagh, Steiner, Torkamani 2024): mean squared errors under pure
  privacy, and from which delta on Laplace noise is worse than Gaussian (their Theorem 1.2
  compares bounds; here stands what the structures really have);
* *A Smooth Binary Mechanism* (Andersson, Pagh 2023): variance over time and its maximum,
  and what a step takes.

Everything is computed from the library's structures, exactly.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from penstock.experiments.drawing.line_chart import Line, Panel, drawing
from penstock.experiments.drawing.texts import Drawn, described, table
from penstock.experiments.honaker import height_of as honaker_height
from penstock.experiments.honaker import largest_weight, mean_weight
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.structures.factorization.square_root import (
    coefficients,
    largest_variance,
    mean_variance,
    published_bound,
)
from penstock.structures.streams.choice import best_tree, mean_squared_error
from penstock.structures.streams.comparison import smooth_nodes_drawn
from penstock.structures.streams.forest import variance_weight
from penstock.structures.streams.kary import KaryTree, binary_tree
from penstock.structures.streams.smooth_binary import balanced, smooth_binary

LENGTHS = (250, 1000, 2**10, 3429, 3430, 2**16, 10**6, 2**20, 10**7)
NAMES = {2**10: "2^10", 2**16: "2^16", 2**20: "2^20", 2**24: "2^24", 10**6: "10^6", 10**7: "10^7"}
OVER_TIME = 250
SMOOTH_LENGTHS = (250, 2**10, 2**16, 2**20, 2**24)
CROSSOVERS = ((2**10, 19), (2**10, 13), (2**16, 19), (2**16, 20), (2**20, 19))
EXPONENTS = range(4, 21)


def _named(length: int) -> str:
    return NAMES.get(length, str(length))


def _mean(tree: KaryTree) -> float:
    return float(mean_squared_error(tree, pure=True))


def errors_table() -> str:
    """Return mean squared errors at epsilon 1; the largest variance follows the stroke."""
    rows = []
    for length in LENGTHS:
        height = honaker_height(length)
        nodes = 2 * height**2
        subtracting, best = KaryTree(length, 19), best_tree(length, pure=True)
        most = 2 * subtracting.height**2 * subtracting.most_nodes()
        gaussian = best_tree(length, pure=False)
        rows.append(
            [
                _named(length),
                f"{_mean(binary_tree(length)):.4f}",
                f"{nodes * mean_weight(length):.4f} / {nodes * largest_weight(length):.1f}",
                f"{_mean(KaryTree(length, 17, subtracting=False)):.4f}",
                f"{_mean(subtracting):.4f} / {most}",
                f"{best.k}: {_mean(best):.4f}",
                f"{gaussian.k}: {float(mean_squared_error(gaussian, pure=False)):.4f}",
            ]
        )
    heads = (
        *("T", "binary", "Honaker", "k = 17, adding", "k = 19, subtracting"),
        *("best k, Laplace", "best k, Gaussian"),
    )
    return table(heads, rows)


def smooth_table() -> str:
    """Return variances at rho 1, and the numbers that a tier keeps and draws a step."""
    rows = []
    for length in SMOOTH_LENGTHS:
        binary, paper = binary_tree(length), balanced(length)
        ours = smooth_binary(length, pure=False)
        rows.append(
            [
                _named(length),
                f"{_binary_largest(length):g}",
                f"{float(mean_squared_error(binary, pure=False)):.4f}",
                f"{paper.zeros * paper.ones / 2:g}",
                f"{ours.zeros * ours.ones / 2:g}",
                f"{largest_variance(length):.4f}",
                f"{mean_variance(length):.4f}",
                f"{binary.most_nodes()} / 1",
                f"{ours.ones} / {smooth_nodes_drawn(ours) / length:.2f}",
                f"{length} / 1",
            ]
        )
    heads = (
        *("T", "binary, largest", "mean", "smooth, paper's", "smooth, any height"),
        *("square root, largest", "mean", "binary keeps / draws", "smooth", "square root"),
    )
    return table(heads, rows)


def leading_crossover(length: int) -> float:
    """Return from which delta on the paper's leading terms prefer Gaussian noise (Theorem 1.2)."""
    pure = (19 - 1 / 19) / (2 * math.log2(19) ** 3)
    square_root = (math.log(2) / math.pi) ** 2
    exponent = pure * math.log2(length) / (4 * square_root) - 4 / 9
    return math.sqrt(2 / math.pi) * math.exp(-exponent)


def bound_crossover(length: int, error: float) -> float:
    """Return from which delta the published Gaussian bound is below ``error``, at epsilon 1.

    It is ``4 (4/9 + ln(sqrt(2/pi) / delta))`` times the bound on the mean factor.
    """
    exponent = error / (4 * published_bound(length)) - 4 / 9
    return math.sqrt(2 / math.pi) * math.exp(-exponent)


def honest_crossover(length: int, error: float, epsilon: float) -> float:
    """Return the delta at which the square root with tight Gaussian noise has the same mean error.

    ``error`` is the tree's at epsilon 1.  The mean variance is the factor times
    ``1 / mu^2``, and delta that of the analytic curve.
    """
    factor = 2 * _square_root_mean(length)
    return delta_at(epsilon, math.sqrt(factor / error) * epsilon)


@cache
def _square_root_mean(length: int) -> float:
    return mean_variance(length)


def crossover_table() -> str:
    """Return a table of deltas; Laplace noise on the tree is better for all below."""
    rows = []
    for length, k in CROSSOVERS:
        error = _mean(KaryTree(length, k))
        deltas = (
            leading_crossover(length),
            bound_crossover(length, error),
            honest_crossover(length, error, 1.0),
            honest_crossover(length, error, 0.1),
        )
        rows.append([_named(length), str(k), f"{error:.3f}", *(f"{delta:.4g}" for delta in deltas)])
    heads = (
        *("T", "k", "error", "leading terms", "published bound"),
        *("exact, epsilon 1", "exact, epsilon 0.1"),
    )
    return table(heads, rows)


def trees_drawing() -> str:
    """Draw mean squared error over the length, divided by the cube of its logarithm."""
    kinds: dict[str, Callable[[int], float]] = {
        "binary": lambda length: _mean(binary_tree(length)),
        "Honaker": lambda length: 2 * honaker_height(length) ** 2 * mean_weight(length),
        "adding, k = 17": lambda length: _mean(KaryTree(length, 17, subtracting=False)),
        "subtracting, 19": lambda length: _mean(KaryTree(length, 19)),
        "best k": lambda length: _mean(best_tree(length, pure=True, largest=60)),
    }
    lengths = sorted({round(2 ** (quarter / 4)) for quarter in range(24, 97)})
    errors = tuple(_line(name, lengths, kind) for name, kind in kinds.items())
    panels = [
        Panel(
            title="Mean squared error",
            x_label="steps T (log scale)",
            y_label="error at epsilon 1 (log scale)",
            lines=errors,
            x_base=2,
            y_base=10,
        ),
        Panel(
            title="Over the cube of log2 T",
            x_label="steps T (log scale)",
            y_label="error / (log2 T)³",
            lines=tuple(_over_the_cube(line) for line in errors),
            x_base=2,
        ),
    ]
    caption = (
        "Laplace noise, pure privacy. Heights are whole numbers, so that errors rise in steps."
    )
    return drawing("Running sums by trees", caption, described(panels), panels)


def smooth_drawing() -> str:
    """Draw variance over time at a short length, and the largest one over the length."""
    binary, paper = binary_tree(OVER_TIME), balanced(OVER_TIME)
    squares = np.cumsum(np.square(coefficients(OVER_TIME)))
    steps = range(1, OVER_TIME + 1)

    def binary_at(step: int) -> float:
        return binary.height * float(variance_weight(binary, step, squared=False)) / 2

    exponents = [2**exponent for exponent in range(4, 25)]
    panels = [
        Panel(
            title=f"Variance over time, T = {OVER_TIME}",
            x_label="step",
            y_label="variance at rho 1",
            lines=(
                _line("binary", steps, binary_at),
                _line("smooth", steps, lambda _: paper.zeros * paper.ones / 2),
                _line("square root", steps, lambda t: squares[-1] * squares[t - 1] / 2),
            ),
        ),
        Panel(
            title="Largest variance",
            x_label="steps T (log scale)",
            y_label="variance at rho 1",
            lines=(
                _line("binary", exponents, _binary_largest),
                _line("smooth", exponents, lambda t: balanced(t).zeros ** 2 / 2),
                _line("square root", exponents, largest_variance),
                _line("smooth, any height", exponents, _any_height),
            ),
            x_base=2,
        ),
    ]
    caption = (
        "Gaussian noise. Smooth outputs all have one law; the binary mechanism's vary by step."
    )
    return drawing("Smooth binary, binary and square root", caption, described(panels), panels)


def _binary_largest(length: int) -> float:
    tree = binary_tree(length)
    return tree.height * tree.most_nodes() / 2


def _any_height(length: int) -> float:
    tree = smooth_binary(length, pure=False)
    return tree.zeros * tree.ones / 2


def crossover_drawing() -> str:
    """Return the delta below which Laplace noise on the best tree has the smaller mean error."""
    lengths = [2**exponent for exponent in EXPONENTS]
    errors = {length: _mean(best_tree(length, pure=True)) for length in lengths}
    panel = Panel(
        title="Laplace noise on the best tree is better below",
        x_label="steps T (log scale)",
        y_label="delta (log scale)",
        lines=(
            _line("leading terms", lengths, leading_crossover),
            _line("published bound", lengths, lambda t: min(bound_crossover(t, errors[t]), 1.0)),
            _line("exact, ε = 1", lengths, lambda t: honest_crossover(t, errors[t], 1.0)),
            _line("exact, ε = 0.1", lengths, lambda t: honest_crossover(t, errors[t], 0.1)),
        ),
        x_base=2,
        y_base=10,
    )
    caption = "Against the square root with Gaussian noise."
    return drawing("Laplace or Gaussian?", caption, described([panel]), [panel])


def _over_the_cube(line: Line) -> Line:
    return Line(line.name, tuple((x, y / math.log2(x) ** 3) for x, y in line.points))


def _line(name: str, at: Sequence[int], value: Callable[[int], float]) -> Line:
    return Line(name, tuple((float(each), float(value(each))) for each in at))


def draw_trees() -> Drawn:
    """Return mean squared errors by trees, drawn and as a table."""
    return Drawn(trees_drawing(), errors_table())


def draw_smooth() -> Drawn:
    """Return variances by the smooth binary mechanism, drawn and as a table."""
    return Drawn(smooth_drawing(), smooth_table())


def draw_crossover() -> Drawn:
    """Return the deltas at which Laplace and Gaussian noise meet, drawn and as a table."""
    return Drawn(crossover_drawing(), crossover_table())
