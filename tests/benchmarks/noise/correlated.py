"""Measure many counts over one population: Figure 2 of Lebeda 2024 (*Better Gaussian Mechanism*).

``d`` counts and the size of the population, at mu 1.  ``C`` trades the error of the one for
that of the others: a node has the variance ``d + C^2``, a count adds a quarter of its own
node's and of the size's, the size has its node's over ``C^2``.
"""

from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.drawing.line_chart import Line, Panel, drawing
from tests.benchmarks.figures import Figure, Print
from tests.benchmarks.running_sums.trees import described, table

SVG = Path(__file__).parents[1] / "correlated.svg"
COLUMNS = 10_000
TRADE_OFFS = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200)
DRAWN = tuple(range(4, 201, 2))


def size_variance(columns: int, trade_off: float) -> float:
    """Return the variance of the number of records (``A`` in the paper)."""
    return columns / trade_off**2 + 1


def count_variance(columns: int, trade_off: float) -> float:
    """Return the variance of each count (``(A + B) / 4``)."""
    return (columns + trade_off**2 + size_variance(columns, trade_off)) / 4


def variances_table() -> str:
    """Return the figure's points."""
    rows = [
        [
            str(trade_off),
            f"{count_variance(COLUMNS, trade_off):.4f}",
            f"{count_variance(COLUMNS, trade_off) / COLUMNS:.4f}",
            f"{size_variance(COLUMNS, trade_off):.4f}",
        ]
        for trade_off in TRADE_OFFS
    ]
    heads = ("C", "variance of a count", "over the standard mechanism", "variance of the size")
    return table(heads, rows)


def figure() -> str:
    """Return both errors over ``C``."""
    count = tuple((float(c), count_variance(COLUMNS, c)) for c in DRAWN)
    panels = [
        Panel(
            title="A count",
            x_label="trade-off C",
            y_label="variance at mu 1",
            lines=(
                Line("correlated", count),
                Line("standard", tuple((x, float(COLUMNS)) for x, _ in count)),
                Line("size known", tuple((x, COLUMNS / 4) for x, _ in count)),
            ),
        ),
        Panel(
            title="The size of the population",
            x_label="trade-off C",
            y_label="variance at mu 1 (log scale)",
            lines=(Line("size", tuple((float(c), size_variance(COLUMNS, c)) for c in DRAWN)),),
            y_base=10,
        ),
    ]
    told = f"d = {COLUMNS} counts. The best C for counts is 10; larger ones buy a better size."
    return drawing("Correlated Gaussian noise", told, described(panels), panels)


def measure(say: Print = print, path: Path = SVG) -> Sequence[Figure]:
    """Return the table is printed, the drawing written."""
    say(variances_table())
    path.write_text(figure())
    best = count_variance(COLUMNS, COLUMNS**0.25)
    return [Figure("standard over correlated Gaussian, variance", COLUMNS / best, "x")]
