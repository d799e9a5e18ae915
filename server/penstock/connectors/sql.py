"""The one template of the SQL that is run on a dataset, and how a plan fills it in.

What the text promises, in its own order:

1. ``typed``: every cell is read as text and cast to its declared type; what cannot be
   cast, NaN and infinities become the declared ``missing``, or NULL.
2. ``kept``: rows without a privacy unit or without a value are dropped; the declared keys
   are joined, so that no key is ever discovered in the data.
3. ``contributed``: what one unit gives to one key is added up and clamped.
4. ``chosen``: of each unit's keys so many are kept, in the order of a salted hash; rows are
   never sampled.
5. ``totals``: integers are added, which gives the same bits in any order.
6. The whole domain is joined, so that zeros appear, and totals saturate.

Names and texts enter as quoted identifiers and literals, numbers as numerals of Python's
own making.  The declared keys are tables of their own (``keys_0``, ``keys_1``, ...), and
the salt is bound when the statement is run, so that neither stands in the text.
"""

import datetime
import hashlib
from dataclasses import dataclass

from penstock.connectors.cells import Cell
from penstock.connectors.domain import Domain
from penstock.connectors.plan import Column, Filter, Plan, Summand
from penstock.connectors.sensitivity import Measure

SOURCE = "source"
"""The relation that the text reads: one text column for each declared column."""

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
    {value} AS value
  FROM typed{joins}
  WHERE {conditions}
), contributed AS (
  SELECT unit, key, CAST({part} AS BIGINT) AS part
  FROM kept
  GROUP BY unit, key
), chosen AS (
  SELECT key, part, row_number() OVER (PARTITION BY unit ORDER BY {order}, key) AS place
  FROM contributed
), totals AS (
  SELECT key, sum(part) AS total
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
    {value} AS value
  FROM typed{joins}
  WHERE {conditions}
), totals AS (
  SELECT key, sum(value) AS total
  FROM kept
  GROUP BY key
)
"""

_ANSWER = """\
SELECT CAST(least(greatest(coalesce(totals.total, 0), -{most}), {most}) AS BIGINT) AS value
FROM range({dimension}) AS domain(key)
LEFT JOIN totals ON totals.key = domain.key
ORDER BY domain.key
"""


@dataclass(frozen=True)
class Statement:
    """The text that is run, and its SHA-256 in hexadecimal digits."""

    text: str
    sha256: str


def statement(plan: Plan) -> Statement:
    """Fill the template in; the result depends on the plan alone."""
    columns = _Columns(plan)
    template = _OF_ROWS if plan.unit is None else _OF_UNITS
    text = template.format(
        columns=",\n    ".join(columns.expressions),
        source=SOURCE,
        key=_key(plan),
        value=_value(plan, columns),
        joins=_joins(plan, columns),
        conditions="\n    AND ".join(_conditions(plan, columns)),
        part=_part(plan),
        order=_order(),
        max_groups=plan.max_groups,
    ) + _ANSWER.format(most=plan.saturation, dimension=plan.dimension)
    return Statement(text, hashlib.sha256(text.encode()).hexdigest())


def identifier(name: str) -> str:
    """A name between quotation marks."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Cell) -> str:
    """A value as SQL writes it; texts between apostrophes, numbers cast to their type."""
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
    """The columns that a plan uses, each cast once, under names of our own."""

    def __init__(self, plan: Plan) -> None:
        self._aliases = {column: f"c{place}" for place, column in enumerate(plan.columns)}
        cells = [f"{_cast(column)} AS {alias}" for column, alias in self._aliases.items()]
        unit = [] if plan.unit is None else [f"{_unit(plan.unit)} AS unit"]
        self.expressions = [*unit, *cells] or ["1 AS present"]

    def __getitem__(self, column: Column) -> str:
        return f"typed.{self._aliases[column]}"


def _unit(column: Column) -> str:
    return f"CAST({_cast(column)} AS VARCHAR)"


def _cast(column: Column) -> str:
    text = identifier(column.name)
    match column.type:
        case "string":
            expression = text
        case "integer":
            number = f"TRY_CAST({text} AS DOUBLE)"
            expression = f"CASE WHEN {number} = floor({number}) THEN TRY_CAST({text} AS BIGINT) END"
        case "number":
            number = f"TRY_CAST({text} AS DOUBLE)"
            expression = f"CASE WHEN isfinite({number}) THEN {number} END"
        case _:
            expression = f"TRY_CAST({text} AS {column.type.upper()})"
    if column.missing is None:
        return expression
    return f"coalesce({expression}, {literal(column.missing)})"


def _key(plan: Plan) -> str:
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
    return "".join(joins)


def _conditions(plan: Plan, columns: _Columns) -> list[str]:
    conditions = [] if plan.unit is None else ["typed.unit IS NOT NULL"]
    if plan.summand is not None:
        conditions.append(f"{columns[plan.summand.column]} IS NOT NULL")
    conditions += [_condition(each, columns[each.column]) for each in plan.filters]
    return conditions or ["TRUE"]


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
    return _steps(plan.summand, columns[plan.summand.column])


def _steps(summand: Summand, cell: str) -> str:
    scaled = f"{cell} / {literal(float(summand.step))}"
    low, high = literal(float(summand.lowest)), literal(float(summand.highest))
    return f"CAST(floor(least(greatest({scaled}, {low}), {high}) + 0.5) AS BIGINT)"


def _part(plan: Plan) -> str:
    contribution = plan.contribution
    match plan.measure:
        case Measure.COUNT_UNITS:
            return "1"
        case Measure.COUNT:
            return f"least(count(*), {contribution.highest})"
        case Measure.SUM:
            return f"least(greatest(sum(value), {contribution.lowest}), {contribution.highest})"


def _order() -> str:
    parts = ("unit", "CAST(key AS VARCHAR)", f"${SALT}")
    return "md5(" + " || ".join(f"length({part}) || ':' || {part}" for part in parts) + ")"
