"""Write the SQL that is run on a dataset: one template, filled in by a plan.

What the SQL guarantees, in the order of its parts:

1. ``typed``: every cell is read as text and cast to its declared type; what cannot be
   cast, NaN and infinities become the declared ``missing``, or NULL.
2. ``kept``: rows without a privacy unit or without a value are dropped; the declared keys
   are joined, so that no key is ever discovered in the data.
3. ``contributed``: the contributions of one unit to one key are added up and clamped (for a
   mean, scaled).
4. ``chosen``: a bounded number of each unit's keys is kept, in the order of a salted hash;
   rows are never sampled.
5. ``totals``: integers are added, which gives the same bits in any order.
6. The whole domain is joined, so that zeros appear, and totals saturate.

Names and texts enter as quoted identifiers and literals, numbers as numerals that Python
writes.  The declared keys are separate tables (``keys_0``, ``keys_1``, ...), and the salt is
bound when the statement is run, so that neither is in the text.

A sparse histogram joins no keys: its rows are kept if their cell is a key of the domain, and the
answer has one row for each key that was found.
"""

import datetime
import hashlib
from dataclasses import dataclass

from penstock.connectors.duckdb.cells import Cell
from penstock.connectors.planning.domain import Domain
from penstock.connectors.planning.open_keys import COLUMN, condition_sql, key_sql
from penstock.connectors.planning.plan import Column, Filter, OpenKeys, Plan, Summand
from penstock.connectors.planning.sensitivity import Measure
from penstock.structures.counts import Centered, Ellipse, Lift
from penstock.structures.sparse_histogram.domain import Strings

SOURCE = "source"
"""The relation that the SQL reads: one text column for each declared column."""

TAKEN = "taken"
"""The table of a column's categories, to find the rows that are in none of them."""

SALT = "salt"
"""The name of the bound parameter."""

_OF_UNITS = """\
WITH typed AS (
  SELECT
    {columns}
  FROM {source}
), kept AS (
  SELECT
    typed.unit AS unit,
    {key} AS key,
    {value} AS value{flags}
  FROM typed{joins}
  WHERE {conditions}
), contributed AS (
  SELECT unit, key, {parts}
  FROM kept
  GROUP BY unit, key
), chosen AS (
  SELECT key, {names}, row_number() OVER (PARTITION BY unit ORDER BY {order}, key) AS place
  FROM contributed
), totals AS (
  SELECT key, {sums}
  FROM chosen
  WHERE place <= {max_groups}
  GROUP BY key
)
"""

_OF_ROWS = """\
WITH typed AS (
  SELECT
    {columns}
  FROM {source}
), kept AS (
  SELECT
    {key} AS key,
    {value} AS value{flags}
  FROM typed{joins}
  WHERE {conditions}
), totals AS (
  SELECT key, {totals}
  FROM kept
  GROUP BY key
)
"""

_ANSWER = """\
SELECT {answers}
FROM range({dimension}) AS domain(key){size}
LEFT JOIN totals ON totals.key = domain.key
ORDER BY domain.key
"""


_SIZE = """
CROSS JOIN (SELECT count(*) AS units FROM chosen WHERE place = 1) AS size"""
"""The number of units that have a key: each unit has exactly one first key."""

_OPEN_ANSWER = """\
SELECT totals.key AS key, {answers}
FROM totals
ORDER BY totals.key
"""


@dataclass(frozen=True)
class Statement:
    """Hold a query's plan, and the SQL that is recorded and run.

    ``sha256`` is the text's, in hexadecimal digits.  The SQL returns one row for each key, in their
    order; the answer's vector has ``columns`` one after another.  A later version runs the text as
    it is recorded, and decodes columns by their names: a column with another meaning needs another
    name, as does a table of keys that is made otherwise.
    """

    plan: Plan
    text: str
    sha256: str
    columns: tuple[str, ...]


def statement(plan: Plan) -> Statement:
    """Return the statement of a plan; the result depends on the plan alone."""
    columns = _Columns(plan)
    template = _OF_ROWS if plan.unit is None else _OF_UNITS
    parts = _parts(plan)
    answers = _answers(plan, parts)
    text = template.format(
        columns=",\n    ".join(columns.expressions),
        source=SOURCE,
        key=_key(plan),
        value=_value(plan, columns),
        flags=_flags(plan, columns),
        joins=_joins(plan, columns),
        conditions="\n    AND ".join(_conditions(plan, columns)),
        parts=", ".join(f"CAST({part} AS BIGINT) AS {name}" for name, part in parts.items()),
        totals=", ".join(f"{part} AS {name}" for name, part in parts.items()),
        names=", ".join(parts),
        sums=", ".join(f"sum({name}) AS {name}" for name in parts),
        order=_order(),
        max_groups=plan.max_groups,
    ) + (_ANSWER if plan.open_keys is None else _OPEN_ANSWER).format(
        answers=",\n  ".join(f"{answer} AS {name}" for name, answer in answers.items()),
        dimension=plan.keys,
        size=_SIZE if _overlapping(plan) else "",
    )
    return Statement(plan, text, sha256_of(text), tuple(answers))


def sha256_of(text: str) -> str:
    """Return the SHA-256 of a statement's text, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def identifier(name: str) -> str:
    """Return a name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Cell) -> str:
    """Return a value as SQL: texts between apostrophes, numbers cast to their type."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"CAST('{value}' AS BIGINT)"
        case float():
            return f"CAST('{value!r}' AS DOUBLE)"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
    return "'" + value.replace("'", "''") + "'"


class _Columns:
    """Hold the columns that a plan uses, each cast once, under generated names."""

    def __init__(self, plan: Plan) -> None:
        self._aliases = {column: f"c{place}" for place, column in enumerate(plan.columns)}
        cells = [f"{_cast(column)} AS {alias}" for column, alias in self._aliases.items()]
        unit = [] if plan.unit is None else [f"{_unit(plan.unit)} AS unit"]
        key = [] if plan.open_keys is None else [f"{_open_cell(plan.open_keys)} AS {COLUMN}"]
        self.expressions = [*unit, *cells, *key] or ["1 AS present"]

    def __getitem__(self, column: Column) -> str:
        return f"typed.{self._aliases[column]}"


def _unit(column: Column) -> str:
    return f"CAST({_cast(column)} AS VARCHAR)"


def _open_cell(keys: OpenKeys) -> str:
    """Return the cell of an open key, cast to HUGEINT: unsigned 64 bits do not fit BIGINT."""
    return _cast(keys.column, "HUGEINT")


def _cast(column: Column, whole: str = "BIGINT") -> str:
    text = identifier(column.name)
    match column.type:
        case "string":
            expression = text
        case "integer":
            number = f"TRY_CAST({text} AS DOUBLE)"
            expression = (
                f"CASE WHEN {number} = floor({number}) THEN TRY_CAST({text} AS {whole}) END"
            )
        case "number":
            number = f"TRY_CAST({text} AS DOUBLE)"
            expression = f"CASE WHEN isfinite({number}) THEN {number} END"
        case _:
            expression = f"TRY_CAST({text} AS {column.type.upper()})"
    if column.missing is None:
        return expression
    return f"coalesce({expression}, {literal(column.missing)})"


def _key(plan: Plan) -> str:
    if plan.open_keys is not None:
        return key_sql(plan.open_keys, f"typed.{COLUMN}")
    strides = Domain(tuple(grouping.labels for grouping in plan.groupings)).strides
    terms = [f"keys_{place}.position * {stride}" for place, stride in enumerate(strides)]
    return " + ".join(terms) or "CAST(0 AS BIGINT)"


def _joins(plan: Plan, columns: _Columns) -> str:
    joins = []
    for place, grouping in enumerate(plan.groupings):
        cell, table = columns[grouping.column], f"keys_{place}"
        if grouping.categories:
            condition = f"{cell} = {table}.value"
        else:
            condition = f"{cell} >= {table}.lower AND {cell} < {table}.upper"
        joins.append(f"\n  JOIN {table} ON {condition}")
    if plan.summand is not None and plan.summand.categories:
        # Each category once, so that no row is counted twice.
        condition = f"{columns[plan.summand.column]} = {TAKEN}.value"
        joins.append(f"\n  LEFT JOIN {TAKEN} ON {condition}")
    return "".join(joins)


def _conditions(plan: Plan, columns: _Columns) -> list[str]:
    conditions = [] if plan.unit is None else ["typed.unit IS NOT NULL"]
    if plan.summand is not None and not plan.summand.categories:
        conditions.append(f"{columns[plan.summand.column]} IS NOT NULL")
    if plan.open_keys is not None:
        conditions.append(_open_condition(plan.open_keys))
    conditions += [_condition(each, columns[each.column]) for each in plan.filters]
    return conditions or ["TRUE"]


def _open_condition(keys: OpenKeys) -> str:
    alphabet = keys.domain.alphabet if isinstance(keys.domain, Strings) else ""
    return condition_sql(keys, f"typed.{COLUMN}", literal(alphabet))


def _condition(each: Filter, cell: str) -> str:
    values = ", ".join(literal(value) for value in each.values)
    match each.op:
        case "in":
            return f"{cell} IN ({values})"
        case "not_in":
            return f"{cell} NOT IN ({values})"
    return f"{cell} {each.op} {values}"


def _value(plan: Plan, columns: _Columns) -> str:
    if plan.summand is None:
        return "CAST(1 AS BIGINT)"
    if plan.summand.categories:
        return f"CAST(CASE WHEN {TAKEN}.value IS NULL THEN 1 ELSE 0 END AS BIGINT)"
    steps = _steps(plan.summand, columns[plan.summand.column])
    return f"{steps} - ({plan.summand.lowest})" if plan.measure is Measure.MEAN else steps


def _steps(summand: Summand, cell: str) -> str:
    scaled = f"{cell} / {literal(float(summand.step))}"
    low, high = literal(float(summand.lowest)), literal(float(summand.highest))
    return f"CAST(floor(least(greatest({scaled}, {low}), {high}) + 0.5) AS BIGINT)"


def _flags(plan: Plan, columns: _Columns) -> str:
    cells = (f"{columns[flag]} AS flag_{place}" for place, flag in enumerate(plan.flags))
    return "".join(f",\n    {cell}" for cell in cells)


def _parts(plan: Plan) -> dict[str, str]:
    """Return, by column, the SQL that adds up the rows of one unit in one group.

    If each row is a unit, it adds up all rows of a group, which may exceed 64 bits.
    """
    if plan.flags:
        parts = {f"part_{place}": _flagged(plan, place) for place in range(len(plan.flags))}
        # Flags never exceed the number of rows, which is subtracted from them.
        return parts if plan.nodes is None else {**parts, "tally": _tallied(plan)}
    match plan.measure:
        case Measure.MEAN:
            return {"part": _centered(plan), "tally": _counted(plan)}
        case Measure.COUNT_UNITS:
            return {"part": "1" if plan.unit else "count(*)"}
        case Measure.COUNT:
            return {"part": _counted(plan)}
        case Measure.SUM:
            total = "sum(value)"
            if plan.unit:
                lowest, highest = plan.contribution.clamp
                total = f"least(greatest({total}, {lowest}), {highest})"
            return {"part": total}


def _flagged(plan: Plan, place: int) -> str:
    rows = f"count(*) FILTER (WHERE flag_{place})"
    return f"least({rows}, {plan.max_rows})" if plan.unit else rows


def _tallied(plan: Plan) -> str:
    if plan.measure is Measure.COUNT_UNITS and plan.unit:
        return "1"
    return _counted(plan)


def _counted(plan: Plan) -> str:
    return f"least(count(*), {plan.max_rows})" if plan.unit else "count(*)"


def _centered(plan: Plan) -> str:
    """Return the centered sum in half steps; ``value`` is a row's height above the lower bound.

    Above ``c`` rows it is scaled by ``c/n``, in integers, halves upwards.  Nothing overflows:
    a total is at most ``n c (hi - lo)``, far below 2^126.
    """
    width = f"CAST({plan.contribution.width} AS HUGEINT)"
    whole = f"2 * sum(value) - {width} * count(*)"
    if plan.unit is None:
        return whole
    most = f"CAST({plan.max_rows} AS HUGEINT)"
    scaled = f"(4 * {most} * sum(value) + count(*)) // (2 * count(*)) - {width} * {most}"
    return f"CASE WHEN count(*) <= {plan.max_rows} THEN {whole} ELSE {scaled} END"


def _answers(plan: Plan, parts: dict[str, str]) -> dict[str, str]:
    """Return, by column, the SQL of each key's answer.

    For counts that are protected together these are twice the count minus the size, and the size.
    They are saturated before the subtraction, because saturating afterwards could move them apart.
    """
    if plan.nodes is None or isinstance(plan.nodes, Ellipse):
        return {f"{name}_answer": _answer(plan, name) for name in parts}
    size = f"{plan.max_rows} * size.units" if _overlapping(plan) else "coalesce(totals.tally, 0)"
    columns = {
        f"{name}_answer": _saturated(plan, f"2 * coalesce(totals.{name}, 0) - {size}")
        for name in parts
        if name != "tally"
    }
    if isinstance(plan.nodes, Centered):
        return columns
    units = f"least(size.units, {plan.max_units})"
    own = f"CAST({units} AS BIGINT)" if _overlapping(plan) else _saturated(plan, size)
    return {**columns, "size_answer": own}


def _overlapping(plan: Plan) -> bool:
    """Return True if counts of groups are protected together with the number of units in any."""
    return isinstance(plan.nodes, Lift | Centered) and not plan.flags


def _saturated(plan: Plan, total: str) -> str:
    return f"CAST(least(greatest({total}, -{plan.saturation}), {plan.saturation}) AS BIGINT)"


def _answer(plan: Plan, name: str) -> str:
    """Return the SQL of a saturated total over all units; a mean's count with its weight."""
    total, most = f"coalesce(totals.{name}, 0)", plan.saturation
    if name == "tally":
        width = plan.contribution.width
        return f"CAST(least({total}, {most // width}) * {width} AS BIGINT)"
    return _saturated(plan, total)


def _order() -> str:
    parts = ("unit", "CAST(key AS VARCHAR)", f"${SALT}")
    return "md5(" + " || ".join(f"length({part}) || ':' || {part}" for part in parts) + ")"
