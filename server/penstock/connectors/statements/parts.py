"""Add up a unit's rows in a group, then all units of a group, and saturate the totals.

Every intermediate number fits 38 decimal digits.  Let a value have at most 2^53 steps, and ``c`` be
``max_rows``, at most 2^31: a unit's sum over n rows is at most 2^53 n; the scaled sum of a
mean at most 2^86 n, which has 38 digits for up to 2^40 rows of one unit in one group; a total of
u units at most 2^62 u, which has them for any number of units below 2^64.
"""

from penstock.connectors.planning.plan import Plan, pairs
from penstock.connectors.planning.sensitivity import Measure
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SIZE, overlapping
from penstock.structures.counts import Centered
from penstock.structures.ellipse import Ellipse

TALLY = "tally"
FIRSTS = "firsts"
"""The column of the number of units of which a key is the first."""


def parts(plan: Plan, dialect: Dialect) -> dict[str, Node]:
    """Return, by column, what adds up the rows of one unit in one group.

    If each row is a unit, it adds up all rows of a group, which may exceed 64 bits.
    """
    if plan.flags:
        flagged = {f"part_{place}": _flagged(plan, place) for place in range(len(plan.flags))}
        if plan.nodes is None or isinstance(plan.nodes, Ellipse):
            return flagged
        # Flags never exceed the number of rows, which is subtracted from them.
        return {**flagged, TALLY: _tallied(plan)}
    match plan.measure:
        case Measure.MOMENTS:
            return {
                f"part_{place}": _product(plan, pair, dialect)
                for place, pair in enumerate(pairs(len(plan.factors), plan.order))
            }
        case Measure.MEAN:
            return {"part": _centered(plan, dialect), TALLY: _counted(plan)}
        case Measure.COUNT_UNITS:
            return {"part": sql.number(1) if plan.unit else sql.count()}
        case Measure.COUNT | Measure.MARGINALS | Measure.WORKLOAD:
            return {"part": _counted(plan)}
        case Measure.QUANTILES:
            # What bounds the rows of a unit is beside its other bins (``binned``).
            return {"part": sql.count()}
        case Measure.SUM:
            total = dialect.total(sql.column("value"))
            if plan.unit:
                lowest, highest = plan.contribution.clamp
                total = sql.clamped(total, dialect.wide(lowest), dialect.wide(highest))
            return {"part": total}


def _flagged(plan: Plan, place: int) -> Node:
    rows = sql.call("count", sql.case((sql.column(f"flag_{place}"), sql.number(1))))
    return sql.call("least", rows, sql.number(plan.max_rows)) if plan.unit else rows


def _tallied(plan: Plan) -> Node:
    if plan.measure is Measure.COUNT_UNITS and plan.unit:
        return sql.number(1)
    return _counted(plan)


def _counted(plan: Plan) -> Node:
    rows = sql.count()
    return sql.call("least", rows, sql.number(plan.max_rows)) if plan.unit else rows


def _centered(plan: Plan, dialect: Dialect) -> Node:
    """Return the centered sum in half steps; ``value`` is a row's height above the lower bound.

    Above ``c`` rows it is scaled by ``c/n``, in integers, halves upwards.
    """
    width = plan.contribution.width
    whole = sql.minus(
        sql.times(sql.number(2), dialect.total(sql.column("value"))),
        sql.times(dialect.wide(width), sql.count()),
    )
    if plan.unit is None:
        return whole
    scaled = dialect.quotient(
        _fourfold(plan, dialect), _twice(), again=(_fourfold(plan, dialect), _twice())
    )
    most = sql.times(dialect.wide(width), dialect.wide(plan.max_rows))
    few = sql.compared(sql.count(), "<=", sql.number(plan.max_rows))
    return sql.case((few, whole), otherwise=sql.minus(scaled, most))


def _fourfold(plan: Plan, dialect: Dialect) -> Node:
    most = sql.times(sql.number(4), dialect.wide(plan.max_rows))
    return sql.plus(sql.times(most, dialect.total(sql.column("value"))), sql.count())


def _twice() -> Node:
    return sql.times(sql.number(2), sql.count())


def _product(plan: Plan, pair: tuple[int, int], dialect: Dialect) -> Node:
    """Return the sum of the products of two factors; the factors are heights above their grid.

    With ``u`` for a height, ``z = 2 u - W``; of order 1 it is that of ``z`` alone.  Above
    ``c`` rows the sum is scaled by ``c/n``, in integers, halves upwards.
    """
    most = plan.grid**plan.order
    if pair == (0, 0):
        return sql.times(dialect.wide(most), _counted(plan))
    whole = sql.minus(_raised(plan, pair, dialect), sql.times(dialect.wide(most), sql.count()))
    if plan.unit is None:
        return whole

    def multiple() -> Node:
        raised = sql.times(dialect.wide(2 * plan.max_rows), _raised(plan, pair, dialect))
        return sql.plus(raised, sql.count())

    scaled = dialect.quotient(multiple(), _twice(), again=(multiple(), _twice()))
    few = sql.compared(sql.count(), "<=", sql.number(plan.max_rows))
    return sql.case((few, whole), otherwise=sql.minus(scaled, dialect.wide(plan.max_rows * most)))


def _raised(plan: Plan, pair: tuple[int, int], dialect: Dialect) -> Node:
    """Return the sum of ``z_i z_j + W^2``, of order 1 of ``z_j + W``, which is not negative."""
    first, second = pair
    twice = dialect.wide(2 * plan.grid ** (plan.order - 1))
    if not first:
        return sql.times(twice, dialect.total(_height(second)))
    products = dialect.total(sql.times(_height(first), _height(second)))
    sums = sql.plus(dialect.total(_height(first)), dialect.total(_height(second)))
    ends = sql.times(dialect.wide(2 * plan.grid**2), sql.count())
    fourfold = sql.times(dialect.wide(4), products)
    return sql.plus(sql.minus(fourfold, sql.times(twice, sums)), ends)


def _height(factor: int) -> Node:
    return sql.column(f"height_{factor}")


def answers(plan: Plan, names: list[str], dialect: Dialect) -> dict[str, Node]:
    """Return, by column, the answer of a key that has totals.

    For counts that are protected together these are twice the count minus the size, and the size.
    They are saturated before the subtraction, because saturating afterwards could move them apart.
    """
    if plan.nodes is None or isinstance(plan.nodes, Ellipse):
        return {f"{name}_answer": _answer(plan, name, dialect) for name in names}
    columns = {
        f"{name}_answer": _saturated(
            plan,
            sql.minus(sql.times(sql.number(2), _total(name)), _size(plan, dialect)),
            dialect,
        )
        for name in names
        if name != TALLY
    }
    if overlapping(plan):
        units = sql.call("least", _units(dialect), sql.number(plan.max_units))
        return {**columns, SIZE: sql.cast(units, dialect.whole)}
    if isinstance(plan.nodes, Centered):
        return columns
    return {**columns, SIZE: _saturated(plan, _size(plan, dialect), dialect)}


def _size(plan: Plan, dialect: Dialect) -> Node:
    if overlapping(plan):
        return sql.times(dialect.wide(plan.max_rows), _units(dialect))
    return _total(TALLY)


def _units(dialect: Dialect) -> Node:
    if dialect.shares_rows:
        return sql.column("units", "size")
    return sql.over(dialect.total(_total(FIRSTS)), [])


def _total(name: str) -> Node:
    return sql.column(name, "totals")


def _saturated(plan: Plan, total: Node, dialect: Dialect) -> Node:
    low, high = dialect.wide(-plan.saturation), dialect.wide(plan.saturation)
    return sql.cast(sql.clamped(total, low, high), dialect.whole)


def _answer(plan: Plan, name: str, dialect: Dialect) -> Node:
    """Return a saturated total over all units; a mean's count with its weight."""
    if name == TALLY:
        width = plan.contribution.width
        least = sql.call("least", _total(name), dialect.wide(plan.saturation // width))
        return sql.cast(sql.times(least, dialect.wide(width)), dialect.whole)
    return _saturated(plan, _total(name), dialect)
