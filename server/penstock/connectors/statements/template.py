"""Write the SQL that is run on a dataset: one template, filled in by a plan, for any engine.

What the SQL guarantees, in the order of its parts:

1. ``typed``: every cell is read as its declared type; what is not of it, NaN and infinities
   become the declared ``missing``, or NULL.  Where columns are derived, the part is ``read``, and
   ``typed`` computes them from its cells.
2. ``kept``: rows without a privacy unit or without a value are dropped; the declared keys
   are joined, so that no key is ever discovered in the data.
3. ``contributed``: the contributions of one unit to one key are added up and clamped (for a
   mean, scaled).
4. ``chosen``: a bounded number of each unit's keys is kept, in the order of a salted hash;
   rows are never sampled.
5. ``totals``: integers are added, which gives the same bits in any order.
6. Totals saturate.  ``decoding`` puts them at their keys, and 0 at all others.

Names and texts enter as quoted identifiers and literals, numbers as numerals that Python
writes.  The declared keys are separate tables (``keys_0``, ``keys_1``, ...), and the salt is
bound when the statement is run, so that neither is in the text.

A sparse histogram joins no keys: its rows are kept if their cell is a key of the domain, and the
answer has one row for each key that was found.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from penstock.connectors.formulas.arithmetic import DerivedColumn
from penstock.connectors.formulas.formula import Column, Junction
from penstock.connectors.planning.domain import strides_of
from penstock.connectors.planning.open_keys import COLUMN
from penstock.connectors.planning.plan import Grouping, Plan, Summand
from penstock.connectors.planning.sensitivity import Measure
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.formulas import computed, condition
from penstock.connectors.statements.parts import FIRSTS, answers, parts
from penstock.connectors.statements.statement import (
    BINS,
    KEY,
    SIZE,
    SOURCE,
    TAKEN,
    Statement,
    overlapping,
    sha256_of,
)
from penstock.connectors.statements.texts import Texts, Written, shape_of
from penstock.connectors.statements.unit_bins import BIN, cell_of, contributed
from penstock.structures.counts import Centered

TEXTS: Final = Texts()


def statement(plan: Plan, dialect: Dialect) -> Statement:
    """Return the statement of a plan; the result depends on the plan and the engine alone."""
    shape = shape_of(plan, type(dialect).__qualname__)
    written = TEXTS.of(shape, lambda: _written(plan, dialect))
    return Statement(plan, written.text, written.sha256, written.columns)


def _written(plan: Plan, dialect: Dialect) -> Written:
    relations = {**_typed(plan, dialect), "kept": _kept(plan, dialect)}
    added = parts(plan, dialect)
    if plan.unit is None:
        columns = [sql.named(part, name) for name, part in added.items()]
        relations["totals"] = sql.select(
            [sql.column(KEY), *columns], sql.table("kept"), group=[sql.column(KEY)]
        )
    else:
        relations |= _of_units(plan, added, dialect)
    answered = answers(plan, list(added), dialect)
    keys = sql.named(sql.column(KEY, "totals"), KEY)
    last = sql.select(
        [keys, *(sql.named(answer, name) for name, answer in answered.items())],
        sql.table("totals"),
        joins=[sql.join(_size(), None)] if overlapping(plan) and dialect.shares_rows else [],
    )
    text = dialect.written(sql.with_parts(last, relations)) + "\n"
    only = [each for each in answered if each != SIZE or not isinstance(plan.nodes, Centered)]
    return Written(text, sha256_of(text), tuple(only))


def _typed(plan: Plan, dialect: Dialect) -> dict[str, exp.Select]:
    """Return the part that has a plan's columns, and before it, for derived ones, their cells."""
    if plan.sources == plan.columns:
        return {"typed": _cells(plan, plan.columns, dialect)}
    ours = [name for name, kept in (("unit", plan.unit), (COLUMN, plan.open_keys)) if kept]
    columns = [sql.named(sql.column(name, "read"), name) for name in ours]

    def cell_of(column: Column) -> Node:
        return sql.column(_name(plan.sources, column), "read")

    for each in plan.columns:
        if isinstance(each, DerivedColumn):
            value = computed(each.computed, cell_of, dialect)
        else:
            value = cell_of(each)
        columns.append(sql.named(value, _name(plan.columns, each)))
    read = _cells(plan, plan.sources, dialect)
    return {"read": read, "typed": sql.select(columns, sql.table("read"))}


def _cells(plan: Plan, columns: Sequence[Column], dialect: Dialect) -> exp.Select:
    """Return the part that reads cells: those of columns, of the unit and of open keys."""
    cells = [sql.named(dialect.cell(each), _name(columns, each)) for each in columns]
    if plan.unit is not None:
        cells.insert(0, sql.named(dialect.text_of(dialect.cell(plan.unit)), "unit"))
    if plan.open_keys is not None:
        cells.append(sql.named(dialect.open_cell(plan.open_keys.column), COLUMN))
    return sql.select(cells or [sql.named(sql.number(1), "present")], sql.table(SOURCE))


def _name(columns: Sequence[Column], column: Column) -> str:
    return f"c{columns.index(column)}"


def _cell(plan: Plan, column: Column) -> Node:
    return sql.column(_name(plan.columns, column), "typed")


def _kept(plan: Plan, dialect: Dialect) -> exp.Select:
    columns = [
        sql.named(_key(plan, dialect), KEY),
        sql.named(_value(plan, dialect), "value"),
        *(sql.named(_cell(plan, flag), f"flag_{place}") for place, flag in enumerate(plan.flags)),
        *(
            sql.named(_height(plan, factor, dialect), f"height_{place}")
            for place, factor in enumerate(plan.factors, 1)
        ),
    ]
    if plan.unit is not None:
        columns.insert(0, sql.named(sql.column("unit", "typed"), "unit"))
        if plan.bins is not None:
            columns.append(sql.named(sql.column("position", BINS), BIN))
    conditions = _conditions(plan, dialect)
    return sql.select(
        columns,
        sql.table("typed"),
        joins=_joins(plan, dialect),
        where=sql.all_of(conditions) if conditions else None,
    )


def _of_units(plan: Plan, added: dict[str, Node], dialect: Dialect) -> dict[str, exp.Select]:
    """Return the parts that bound what one unit contributes, and add up all units."""
    binned = plan.bins is not None
    if binned:
        relations = contributed(plan, dialect)
    else:
        summed = [sql.named(sql.cast(part, dialect.whole), name) for name, part in added.items()]
        each = sql.select(
            [sql.column("unit"), sql.column(KEY), *summed],
            sql.table("kept"),
            group=[sql.column("unit"), sql.column(KEY)],
        )
        relations = {"contributed": each}
    order = [_order(dialect), sql.column(KEY)]
    place = sql.order_number(sql.column("unit"), order, equal=binned)
    cell = cell_of(plan, sql.column(KEY), sql.column(BIN)) if binned else sql.column(KEY)
    chosen = sql.select(
        [
            sql.named(cell, KEY) if binned else cell,
            *map(sql.column, added),
            sql.named(place, "place"),
        ],
        sql.table("contributed"),
    )
    columns = [sql.named(dialect.total(sql.column(name)), name) for name in added]
    if overlapping(plan) and not dialect.shares_rows:
        first = sql.case((_is_first(), sql.number(1)))
        columns.append(sql.named(sql.call("count", first), FIRSTS))
    totals = sql.select(
        [sql.column(KEY), *columns],
        sql.table("chosen"),
        where=sql.compared(sql.column("place"), "<=", sql.number(plan.max_groups)),
        group=[sql.column(KEY)],
    )
    return {**relations, "chosen": chosen, "totals": totals}


def _order(dialect: Dialect) -> Node:
    """Return the salted hash by which a unit's groups are ordered."""

    def with_length(make: Node, again: Node) -> list[Node]:
        return [dialect.text_of(dialect.length(make)), sql.text(":"), again]

    def key() -> Node:
        return dialect.text_of(sql.column(KEY))

    return dialect.digest(
        sql.joined_texts(
            [
                *with_length(sql.column("unit"), sql.column("unit")),
                *with_length(key(), key()),
                *with_length(dialect.salt(), dialect.salt()),
            ]
        )
    )


def _key(plan: Plan, dialect: Dialect) -> Node:
    if plan.open_keys is not None:
        return dialect.open_key(plan.open_keys.domain, sql.column(COLUMN, "typed"))
    strides = strides_of([len(grouping) for grouping in plan.groupings])
    key: Node | None = None
    for place, stride in enumerate(strides):
        term = sql.times(sql.column("position", f"keys_{place}"), sql.number(stride))
        key = term if key is None else sql.plus_term(key, term)
    key = sql.cast(sql.number(0), dialect.whole) if key is None else key
    if plan.bins is not None and plan.unit is None:
        return cell_of(plan, key, sql.column("position", BINS))
    return key


def _joins(plan: Plan, dialect: Dialect) -> list[exp.Join]:
    joins = []
    for place, grouping in enumerate(plan.groupings):
        name = f"keys_{place}"
        if grouping.categories:
            value = sql.column("value", name)
            condition = sql.compared(_cell(plan, grouping.column), "=", value)
        else:
            condition = _between(plan, grouping, name, dialect)
        joins.append(sql.join(sql.table(name), condition))
    if plan.bins is not None:
        condition = _between(plan, plan.bins, BINS, dialect, cut=True)
        joins.append(sql.join(sql.table(BINS), condition))
    if plan.summand is not None and plan.summand.categories:
        # Each category once, so that no row is counted twice.
        cell = _cell(plan, plan.summand.column)
        condition = sql.compared(cell, "=", sql.column("value", TAKEN))
        joins.append(sql.join(sql.table(TAKEN), condition, side="LEFT"))
    return joins


def _between(
    plan: Plan, grouping: Grouping, table: str, dialect: Dialect, *, cut: bool = False
) -> Node:
    """Return the condition that a cell is in a bin; with ``cut``, one that was brought into any."""

    def cell() -> Node:
        real = dialect.as_real(grouping.column, _cell(plan, grouping.column))
        if not cut:
            return real
        return sql.clamped(
            real, dialect.literal(grouping.edges[0]), dialect.literal(grouping.edges[-1])
        )

    low, high = (
        sql.compared(cell(), operator, sql.column(side, table))
        for side, operator in (("lower", ">="), ("upper", "<"))
    )
    return sql.all_of([low, high])


def _conditions(plan: Plan, dialect: Dialect) -> list[Node]:
    conditions: list[Node] = []
    if plan.unit is not None:
        conditions.append(sql.negated(sql.is_null(sql.column("unit", "typed"))))
    if plan.summand is not None and not plan.summand.categories:
        conditions.append(sql.negated(sql.is_null(_cell(plan, plan.summand.column))))
    conditions += [sql.negated(sql.is_null(_cell(plan, factor.column))) for factor in plan.factors]
    if plan.bins is not None:
        conditions.append(sql.negated(sql.is_null(_cell(plan, plan.bins.column))))
    if plan.open_keys is not None:
        cell, again = sql.column(COLUMN, "typed"), sql.column(COLUMN, "typed")
        conditions += dialect.open_conditions(plan.open_keys.domain, cell, again)
    kept = []
    for each in plan.filters:
        # What is joined by any stands among others that are joined by all.
        own = condition(each, lambda column: _cell(plan, column), dialect)
        kept.append(sql.in_parentheses(own) if isinstance(each, Junction) else own)
    return conditions + kept


def _value(plan: Plan, dialect: Dialect) -> Node:
    if plan.summand is None:
        return sql.cast(sql.number(1), dialect.whole)
    if plan.summand.categories:
        outside = sql.is_null(sql.column("value", TAKEN))
        share = sql.case((outside, sql.number(1)), otherwise=sql.number(0))
        return sql.cast(share, dialect.whole)
    if plan.measure is Measure.MEAN:
        return _height(plan, plan.summand, dialect)
    return _steps(plan, plan.summand, dialect)


def _steps(plan: Plan, summand: Summand, dialect: Dialect) -> Node:
    column = summand.column
    return dialect.steps(summand, _cell(plan, column), _cell(plan, column))


def _height(plan: Plan, summand: Summand, dialect: Dialect) -> Node:
    """Return a cell in steps above the lower bound."""
    return sql.minus(_steps(plan, summand, dialect), sql.number(summand.lowest))


def _size() -> Node:
    """Return the number of units that have a key: each unit has exactly one first key."""
    units = sql.select([sql.named(sql.count(), "units")], sql.table("chosen"), where=_is_first())
    return sql.subquery(units, "size")


def _is_first() -> Node:
    return sql.compared(sql.column("place"), "=", sql.number(1))
