"""Bound what one unit gives to the bins of its groups, without leaving out bins by chance.

Of a unit with ``n`` rows in a group, of which ``c`` count, ``c`` evenly spaced ones in the order of
their bins stand for all: with ``r`` rows up to and with a bin, ``floor(r c / n + 1/2)`` of those
that count are up to there.  So a unit gives ``min(n, c)`` rows, and their quantiles are those of
its rows.
"""

from sqlglot import exp

from penstock.connectors.planning.plan import Plan
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import KEY

BIN = "bin"
_PART = "part"
_ROWS = "own_rows"
_UP_TO = "rows_up_to"
_ALL = "all_rows"


def cell_of(plan: Plan, key: Node, place: Node) -> Node:
    """Return the place of a bin of a key among all; without bins that of the key."""
    return sql.plus_term(sql.times(key, sql.number(plan.cells // plan.keys)), place)


def contributed(plan: Plan, dialect: Dialect) -> dict[str, exp.Select]:
    """Return the parts that give what each unit contributes to each bin of each of its keys."""
    places = [sql.column(name) for name in ("unit", KEY, BIN)]
    counted = sql.select(
        [*places, sql.named(sql.cast(sql.count(), dialect.whole), _ROWS)],
        sql.table("kept"),
        group=[sql.column(name) for name in ("unit", KEY, BIN)],
    )
    ordered = sql.select(
        [
            *(sql.column(name) for name in ("unit", KEY, BIN, _ROWS)),
            sql.named(_within_key(dialect, order=[sql.column(BIN)]), _UP_TO),
            sql.named(_within_key(dialect), _ALL),
        ],
        sql.table("counted"),
    )
    few = sql.compared(sql.column(_ALL), "<=", sql.number(plan.max_rows))
    before = sql.minus(sql.column(_UP_TO), sql.column(_ROWS))
    again = sql.minus(sql.column(_UP_TO), sql.column(_ROWS))
    spaced = sql.minus(
        _counting(plan, dialect, sql.column(_UP_TO), sql.column(_UP_TO)),
        _counting(plan, dialect, before, again),
    )
    part = sql.case((few, sql.column(_ROWS)), otherwise=spaced)
    given = sql.select(
        [
            *(sql.column(name) for name in ("unit", KEY, BIN)),
            sql.named(sql.cast(part, dialect.whole), _PART),
        ],
        sql.table("ordered"),
    )
    return {"counted": counted, "ordered": ordered, "contributed": given}


def _within_key(dialect: Dialect, order: list[Node] | None = None) -> Node:
    """Return the sum of rows of a unit in a key, up to a bin if there is an order."""
    partition = [sql.column("unit"), sql.column(KEY)]
    return sql.over(dialect.total(sql.column(_ROWS)), partition, order or [])


def _counting(plan: Plan, dialect: Dialect, rows: Node, again: Node) -> Node:
    """Return how many of the first rows of a unit count: ``floor(rows c / n + 1/2)``."""

    def multiple(node: Node) -> Node:
        return sql.plus(sql.times(dialect.wide(2 * plan.max_rows), node), sql.column(_ALL))

    def twice() -> Node:
        return sql.times(dialect.wide(2), sql.column(_ALL))

    return dialect.quotient(multiple(rows), twice(), again=(multiple(again), twice()))
