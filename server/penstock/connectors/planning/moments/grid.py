"""Place the columns of moments and regressions on one grid of integers.

A column's values are cut to its bounds and counted in steps ``u`` from 0 to the grid's size
``W``; ``z = 2 u - W`` is between ``-W`` and ``W``.  The answer has, for each group, the sums over
its rows of all products ``z_i z_j`` with ``i <= j``, where ``z_0`` is ``W``: the count, then the
sums, then the products.  All columns have the same grid, so that one row moves each number by at
most ``W^2``, times its weight (``weights``).  In the answer's values a product is divided by
``W^2``: there ``z`` is between -1 and 1, and the count is the count.

Moments of order 1 have the count and the sums alone.  Their numbers are the sums of ``z_j``, which
one row moves by at most ``W``, and ``W`` can be larger, so that values are hardly rounded.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from penstock.connectors.planning.columns import bound, column_of, numeric
from penstock.connectors.planning.moments.weights import columns_of, weights_of
from penstock.connectors.planning.plan import LARGEST_STEPS, Summand
from penstock.connectors.planning.refusals import Refusals, pointer, refusal
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.moments import Moments, Order, Regression, largest_grid_of, order_of
from penstock.errors import InvalidInput

_SMALLEST_GRID = 16
_LARGEST_SUM = 2**51
"""The most steps of a total on a grid that is chosen here: a lattice of noise has 2^52."""

_STEP_BITS = 20
"""The significant bits of a step, so that multiples of it are exact doubles."""

_COMMA = "The name has a comma, which separates the names of products; name the column otherwise."
_OTHER = "This is none of the query's columns; leave it out."


def planned(
    dataset: DatasetSpec, aggregate: Moments | Regression, max_rows: int
) -> Moments | Regression:
    """Return the aggregate with the bounds of every column and the grid, which plan the same.

    Raises ``InvalidInput`` with the place of each mistake.
    """
    names = columns_of(aggregate)
    unknown = sorted(set(aggregate.bounds or {}) - set(names))
    if unknown:
        raise refusal([(pointer("aggregate", "bounds", name), _OTHER) for name in unknown])
    refusals = Refusals()
    bounds = {}
    for name, at in zip(names, _places(aggregate), strict=True):
        with refusals:
            bounds[name] = _bounds(dataset, aggregate, name, at)
    refusals.raise_all()
    weight = max(weights_of(aggregate), default=1)
    rows = max_rows * dataset.max_units * weight
    grid = aggregate.grid or largest_grid(rows, order_of(aggregate))
    return aggregate.model_copy(update={"bounds": bounds, "grid": grid})


def factors_of(
    dataset: DatasetSpec, aggregate: Moments | Regression, max_rows: int
) -> tuple[Summand, ...]:
    """Return the columns on their grid.  Raises ``InvalidInput`` with the place of each mistake."""
    settled = planned(dataset, aggregate, max_rows)
    grid, bounds = settled.grid, settled.bounds
    if grid is None or bounds is None:
        raise RuntimeError("what is planned has a grid and bounds")
    refusals = Refusals()
    factors = []
    for name, at in zip(columns_of(settled), _places(settled), strict=True):
        with refusals:
            factors.append(_factor(dataset, name, bounds[name], grid, at))
    refusals.raise_all()
    return tuple(factors)


def largest_grid(rows: int, order: Order = 2) -> int:
    """Return the largest grid whose totals fit a noise lattice, at least the smallest one there is.

    They take at most half of its steps, so that noise has the other half.  ``rows`` is the largest
    number of rows, times the largest weight.
    """
    grid = largest_grid_of(order)
    while grid > _SMALLEST_GRID and rows * grid**order > _LARGEST_SUM:
        grid //= 2
    return grid


def on_grid(bounds: Sequence[int | float], grid: int) -> tuple[Fraction, int]:
    """Return the step of a grid, and the number of steps of its lower end.

    ``bounds`` are the lower and the upper one.  The grid has both in it, and is wider than they are
    by at most two steps.
    """
    lower, upper = map(Fraction, bounds)
    least = (upper - lower) / (grid - 1)
    shift = _STEP_BITS - (least.numerator.bit_length() - least.denominator.bit_length())
    unit = Fraction(2) ** -shift
    step = math.ceil(least / unit) * unit
    return step, math.floor(lower / step)


def _places(aggregate: Moments | Regression) -> Iterator[tuple[str | int, ...]]:
    several = "columns" if isinstance(aggregate, Moments) else "predictors"
    for place in range(len(getattr(aggregate, several))):
        yield ("aggregate", several, place)
    if isinstance(aggregate, Regression):
        yield ("aggregate", "outcome")


def _bounds(
    dataset: DatasetSpec, aggregate: Moments | Regression, name: str, at: tuple[str | int, ...]
) -> tuple[float, float]:
    spec = numeric(dataset, name, *at)
    if "," in name:
        raise InvalidInput(_COMMA, pointer=pointer(*at))
    own = (aggregate.bounds or {}).get(name, (None, None))
    place = at if own[0] is None else ("aggregate", "bounds", name)
    lower, upper = (
        bound(spec, aggregate.type, side, each, *place)
        for side, each in zip(("lower", "upper"), own, strict=True)
    )
    if lower >= upper:
        raise InvalidInput(
            f"The lower bound of {name}, {lower:g}, is not below the upper one, {upper:g}: such a"
            " column is a constant. Widen its bounds, or leave it out.",
            pointer=pointer(*place),
        )
    return lower, upper


def _factor(
    dataset: DatasetSpec,
    name: str,
    bounds: tuple[int | float, int | float],
    grid: int,
    at: tuple[str | int, ...],
) -> Summand:
    step, lowest = on_grid(bounds, grid)
    if Fraction(float(step)) != step:
        raise InvalidInput(
            f"The bounds of {name} are too near to each other for doubles, so that its grid has no"
            " steps. Multiply it by a constant in the data.",
            pointer=pointer(*at),
        )
    if max(abs(lowest), abs(lowest + grid)) > LARGEST_STEPS:
        raise InvalidInput(
            f"The bounds of {name} are too near to each other for their distance from 0, so that"
            " doubles do not tell its values apart. Subtract a constant from it in the data.",
            pointer=pointer(*at),
        )
    return Summand(column_of(dataset, name), step, lowest, lowest + grid)
