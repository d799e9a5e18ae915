"""Compute many counts over one population: Figures 2 and 3 of Lebeda 2024.

``d`` counts and the size of the population, at mu 1.  ``C`` trades the error of the one for
that of the others: a node has the variance ``d + C^2``, a count adds a quarter of its own
node's and of the size's, the size has its node's over ``C^2``.

Without the size, and with records of at most ``k`` entries above 0, the noise is an ellipse.
"""

from penstock.experiments.drawing.line_chart import Line, Panel, drawing
from penstock.experiments.drawing.texts import Drawn, described, table
from penstock.structures.ellipse import Ellipse

COLUMNS = 10_000
TRADE_OFFS = (5, 10, 15, 20, 30, 50, 75, 100, 150, 200)
DRAWN = tuple(range(4, 201, 2))
SPARSE_COLUMNS = 1000
ENTRIES = (10, 100, 250, 500, 510, 600, 1000)
DRAWN_ENTRIES = (1, *range(10, SPARSE_COLUMNS + 1, 10))


def size_variance(columns: int, trade_off: float) -> float:
    """Return the variance of the number of records (``A`` in the paper)."""
    return columns / trade_off**2 + 1


def count_variance(columns: int, trade_off: float) -> float:
    """Return the variance of each count (``(A + B) / 4``)."""
    return (columns + trade_off**2 + size_variance(columns, trade_off)) / 4


def sparse_variance(columns: int, non_zero: int) -> float:
    """Return the variance of each count without the size, for up to ``non_zero`` entries."""
    ellipse = Ellipse(columns, non_zero)
    return float(ellipse.variance * ellipse.change(1).l2_squared * ellipse.step**2)


def sparse_table() -> str:
    """Return points of Figure 3, and those beyond half of the columns that it has not."""
    with_size = count_variance(SPARSE_COLUMNS, SPARSE_COLUMNS**0.25)
    rows = []
    for entries in ENTRIES:
        least = sparse_variance(SPARSE_COLUMNS, entries)
        cells = (f"{entries}.0000", f"{least:.4f}", f"{least / entries:.4f}", f"{with_size:.4f}")
        rows.append([str(entries), *cells])
    heads = ("k", "standard mechanism", "ellipse", "over the standard mechanism", "with the size")
    return table(heads, rows)


def variances_table() -> str:
    """Return the points of Figure 2."""
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
        _sparse_panel(),
    ]
    caption = (
        f"d = {COLUMNS} counts: the best C for counts is 10; larger ones buy a better size."
        f" On the right, d = {SPARSE_COLUMNS} counts of records with at most k entries."
    )
    return drawing("Correlated Gaussian noise", caption, described(panels), panels)


def _sparse_panel() -> Panel:
    """Return Figure 3: the variance of a count over the most entries of a record."""
    with_size = count_variance(SPARSE_COLUMNS, SPARSE_COLUMNS**0.25)
    least = tuple((float(k), sparse_variance(SPARSE_COLUMNS, k)) for k in DRAWN_ENTRIES)
    return Panel(
        title="A count of records with at most k entries",
        x_label="entries k",
        y_label="variance at mu 1",
        lines=(
            Line("ellipse", least),
            Line("standard", tuple((x, x) for x, _ in least)),
            Line("with the size", tuple((x, with_size) for x, _ in least)),
        ),
    )


def draw() -> Drawn:
    """Return both figures as one drawing, and their tables."""
    return Drawn(figure(), f"{variances_table()}\n\n{sparse_table()}")
