"""Place the edges of bins over a column's values: of one width, or at powers of two.

Edges depend on the spec alone.  A bin holds its lower edge, and the last one its upper edge too.
"""

import math
from fractions import Fraction
from itertools import pairwise

from penstock.connectors.binned.quantiles import DEFAULT_BINS, Quantiles
from penstock.connectors.planning.columns import bound, numeric
from penstock.connectors.planning.refusals import Refusals, pointer
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput

_EXACT = 2**53
"""Whole numbers up to here are doubles."""

_WHOLE_POWERS = range(63)
_POWERS = range(-60, 67)
"""The powers of two that are edges, of either sign; with 0 they make 126 and 254 bins."""


def planned(dataset: DatasetSpec, aggregate: Quantiles) -> Quantiles:
    """Return the aggregate with everything that its bins depend on, which plans the same.

    Raises ``InvalidInput`` with the place of each mistake.
    """
    spec = numeric(dataset, aggregate.column, "aggregate", "column")
    whole = spec.type == "integer"
    if aggregate.whole not in (None, whole):
        raise InvalidInput(
            f"{aggregate.column} is declared as {spec.type}; leave whole out.",
            pointer=pointer("aggregate", "whole"),
        )
    if aggregate.scale == "log":
        _require_no_bounds(aggregate)
        return aggregate.model_copy(update={"whole": whole})
    refusals = Refusals()
    with refusals:
        lower = bound(spec, aggregate.type, "lower", aggregate.lower, "aggregate", "lower")
    with refusals:
        upper = bound(spec, aggregate.type, "upper", aggregate.upper, "aggregate", "upper")
    refusals.raise_all()
    if whole:
        lower, upper = float(math.ceil(lower)), float(math.floor(upper))
    if lower >= upper:
        raise InvalidInput(
            f"The lower bound of {aggregate.column}, {lower:g}, is not below the upper one,"
            f" {upper:g}: such a column is a constant. Widen its bounds.",
            pointer=pointer("aggregate", "upper"),
        )
    if whole and max(-lower, upper) >= _EXACT:
        raise InvalidInput(
            "Whole numbers are counted in bins of one width up to 2^53; declare narrower bounds, or"
            " the scale log.",
            pointer=pointer("aggregate", "upper"),
        )
    bins = aggregate.bins or DEFAULT_BINS
    if whole:
        values = int(upper) - int(lower) + 1
        bins = -(-values // -(-values // bins))
    settled = {"lower": lower, "upper": upper, "bins": bins, "whole": whole}
    return aggregate.model_copy(update=settled)


def edges_of(settled: Quantiles) -> tuple[float, ...]:
    """Return the edges of the bins of a planned aggregate.

    Those of whole numbers end above the upper bound.  Raises ``InvalidInput`` if doubles do not
    tell edges apart.
    """
    if settled.scale == "log":
        powers = [math.ldexp(1, power) for power in (_WHOLE_POWERS if settled.whole else _POWERS)]
        return (*(-power for power in reversed(powers)), 0.0, *powers)
    if settled.lower is None or settled.upper is None or settled.bins is None:
        raise RuntimeError("what is planned has bounds and a number of bins")
    lower, upper = Fraction(settled.lower), Fraction(settled.upper)
    width = (upper - lower) / settled.bins
    if settled.whole:
        width = Fraction(math.ceil((upper - lower + 1) / settled.bins))
    edges = tuple(float(lower + place * width) for place in range(settled.bins + 1))
    if not all(low < high for low, high in pairwise(edges)):
        raise InvalidInput(
            "The bounds are too near to each other for their distance from 0, so that doubles do"
            " not tell the edges of bins apart. Take fewer bins.",
            pointer=pointer("aggregate", "bins"),
        )
    return edges


def _require_no_bounds(aggregate: Quantiles) -> None:
    refusals = Refusals()
    for field in ("lower", "upper", "bins"):
        with refusals:
            if getattr(aggregate, field) is not None:
                raise InvalidInput(
                    "With the scale log bins are between powers of two; leave this out.",
                    pointer=pointer("aggregate", field),
                )
    refusals.raise_all()
