"""Define the data half of what an admin registers: the datasets, and the queries over them.

They are shapes only: ``interpret`` (and ``vector``) checks what one field means for another,
where the dataset and the query meet.  Budgets, levels and mechanisms are the services'
half; their request models inherit from these.
"""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PlainValidator,
    SerializerFunctionWrapHandler,
    Tag,
    WithJsonSchema,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from penstock.connectors.binned.quantiles import Quantiles
from penstock.connectors.formulas.conditions import Conditions
from penstock.connectors.formulas.expressions import Derived
from penstock.connectors.specs.moments import MarginalTables, Moments, Regression, Workload
from penstock.privacy.neighboring import NeighboringRelation
from penstock.spec_fields import (
    ColumnName,
    Edges,
    Grouped,
    Name,
    Number,
    Spec,
    Text,
    Value,
    as_list,
)

MOST_COLUMNS = 1000
MOST_CATEGORIES = 1_000_000
MOST_GROUPINGS = 16
MOST_KEYS = 10_000_000
"""The largest dimension of an answer, but for those of one number for each key."""

MOST_LONG_KEYS = 100_000_000
"""The most keys of counts and sums: they are drawn, stored and read in chunks."""

MAX_UNITS = 2**32
"""The number of privacy units at which sums saturate if none is declared."""

MOST_UNITS = 2**48

ColumnType = Literal["string", "integer", "number", "boolean", "date"]

Engine = Literal[
    "duckdb", "postgresql", "spark", "clickhouse", "trino", "bigquery", "snowflake", "vector"
]


class SourceSpec(Spec):
    """Where the data come from: files, a view in a warehouse, or vectors that are pushed.

    ``connection`` names credentials that the operator sets; they are no part of a spec.
    """

    engine: Engine
    uri: Annotated[Text, Field(min_length=1)] | None = None
    connection: Name | None = None
    table: Annotated[Text, Field(min_length=1)] | None = None

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave fields out that specs of earlier versions do not have, so that texts stay equal."""
        fields: dict[str, Any] = dump(self)
        return {
            name: value
            for name, value in fields.items()
            if value is not None or name not in {"connection", "table"}
        }


class UnitColumn(Spec):
    """The column that names whose record a row is."""

    column: ColumnName


class UnitRows(Spec):
    """Each row is a separate privacy unit."""

    rows: Annotated[int, Field(ge=1, le=1)]


def _kind_of_unit(value: object) -> str | None:
    if value == "event":
        return "<event>"
    for field in ("column", "rows"):
        if (isinstance(value, dict) and field in value) or hasattr(value, field):
            return f"<{field}>"
    return None


PrivacyUnitSpec = Annotated[
    Annotated[UnitColumn, Tag("<column>")]
    | Annotated[UnitRows, Tag("<rows>")]
    | Annotated[Literal["event"], Tag("<event>")],
    Discriminator(
        _kind_of_unit,
        custom_error_type="privacy_unit",
        custom_error_message='This must be {"column": NAME}, {"rows": 1} or "event".',
    ),
]


class ColumnSpec(Spec):
    """What a column may hold.

    ``lower``, ``upper`` and ``step`` bound and round what is summed; ``categories`` are
    the keys that a grouping has; ``missing`` stands in for a cell that is empty or cannot
    be read as ``type`` (without it such a row is dropped).
    """

    type: ColumnType
    categories: (
        Annotated[
            tuple[Value, ...],
            Field(strict=False, min_length=1, max_length=MOST_CATEGORIES, fail_fast=True),
        ]
        | None
    ) = None
    lower: Number | None = None
    upper: Number | None = None
    step: Number | None = None
    missing: Value | None = None


class DatasetSpec(Spec):
    """The data half of a dataset."""

    name: Name
    source: SourceSpec
    privacy_unit: PrivacyUnitSpec | None = None
    neighboring: Annotated[NeighboringRelation, Field(strict=False)]
    columns: Annotated[dict[ColumnName, ColumnSpec], Field(max_length=MOST_COLUMNS)] = Field(
        default_factory=dict
    )
    max_units: Annotated[int, Field(ge=1, le=MOST_UNITS)] = MAX_UNITS


Groupings = Annotated[
    tuple[Grouped, ...],
    Field(strict=False, max_length=MOST_GROUPINGS),
    BeforeValidator(
        as_list,
        json_schema_input_type=Annotated[list[Grouped], Field(max_length=MOST_GROUPINGS)] | Grouped,
    ),
]
"""Groupings; one alone needs no list around it."""


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PydanticCustomError("keys", "Every key occurs once.")
    return names


Flags = Annotated[
    tuple[ColumnName, ...],
    Field(strict=False, min_length=1, max_length=MOST_COLUMNS),
    AfterValidator(_unique),
    BeforeValidator(
        as_list,
        json_schema_input_type=Annotated[
            list[ColumnName], Field(min_length=1, max_length=MOST_COLUMNS)
        ]
        | ColumnName,
    ),
]
"""Boolean columns, each of which is counted by itself: where it is true."""


class Count(Spec):
    """The number of rows of each group; of its rows where each of ``columns`` is true."""

    type: Literal["count"]
    columns: Flags | None = None


class CountUnits(Spec):
    """The number of privacy units of each group.

    With ``columns``, of those that have a row there where it is true, for each of them.
    """

    type: Literal["count_units"]
    columns: Flags | None = None


class Sum(Spec):
    """The sum of a column over each group; what is left out is the column's own."""

    type: Literal["sum"]
    column: ColumnName
    lower: Number | None = None
    upper: Number | None = None
    step: Number | None = None


class Mean(Spec):
    """The mean of a column over each group; what is left out is the column's own."""

    type: Literal["mean"]
    column: ColumnName
    lower: Number | None = None
    upper: Number | None = None
    step: Number | None = None


class Histogram(Spec):
    """The number of rows of each group in each bin of a column."""

    type: Literal["histogram"]
    column: ColumnName
    bins: Edges


class Uncategorized(Spec):
    """The share of rows of each group whose cell of a column is in none of its categories."""

    type: Literal["uncategorized"]
    column: ColumnName


_AGGREGATES = (
    *("count", "count_units", "sum", "mean", "histogram", "uncategorized"),
    *("moments", "regression", "quantiles", "marginals", "workload"),
)


def _kind_of_aggregate(value: object) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return f"<{kind}>" if isinstance(kind, str) and kind in _AGGREGATES else None


AggregateSpec = Annotated[
    Annotated[Count, Tag("<count>")]
    | Annotated[CountUnits, Tag("<count_units>")]
    | Annotated[Sum, Tag("<sum>")]
    | Annotated[Mean, Tag("<mean>")]
    | Annotated[Histogram, Tag("<histogram>")]
    | Annotated[Uncategorized, Tag("<uncategorized>")]
    | Annotated[Moments, Tag("<moments>")]
    | Annotated[Regression, Tag("<regression>")]
    | Annotated[Quantiles, Tag("<quantiles>")]
    | Annotated[MarginalTables, Tag("<marginals>")]
    | Annotated[Workload, Tag("<workload>")],
    Discriminator(
        _kind_of_aggregate,
        custom_error_type="aggregate",
        custom_error_message=(
            "This must be an object whose type is count, count_units, sum, mean, histogram,"
            " uncategorized, moments, regression, quantiles, marginals or workload."
        ),
    ),
]


class ContributionSpec(Spec):
    """How much one privacy unit may contribute: to how many groups, with how many rows in each."""

    max_groups: Annotated[int, Field(ge=1, le=MOST_KEYS)] | None = None
    max_rows_per_group: Annotated[int, Field(ge=1, le=2**31)] | None = None


class QuerySpec(Spec):
    """What every query has."""

    name: Name
    dataset: Name


class ComputedQuery(QuerySpec):
    """The data half of a query whose answer the server computes.

    ``derived`` are columns of the query that are computed from the dataset's, by name; all else
    uses them like declared ones.
    """

    derived: Derived = Field(default_factory=dict)
    where: Conditions = ()
    group_by: Groupings = ()
    aggregate: AggregateSpec
    contribution: ContributionSpec = ContributionSpec()

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave ``derived`` out where there is none, so that texts of earlier versions stay."""
        fields: dict[str, Any] = dump(self)
        return {name: part for name, part in fields.items() if part or name != "derived"}


class AssertedSensitivity(Spec):
    """The sensitivity that the pusher asserts.

    If ``l2`` is left out, it is the root of ``l1`` times ``linf``. If ``linf`` is left out, it is
    ``l2``, or ``l1`` if both are left out. The values are never too small.
    """

    l1: Number
    l2: Number | None = None
    linf: Number | None = None


def exact_values(value: object) -> list[int | float]:
    """Return the list that was sent; only ``vector_steps`` reads its values."""
    if not isinstance(value, list | tuple):
        raise PydanticCustomError("list_type", "This must be a list.")
    if len(value) > MOST_KEYS:
        raise PydanticCustomError(
            "dimension", "A vector has at most {most} values.", {"most": MOST_KEYS}
        )
    return list(value)


class VectorSpec(QuerySpec):
    """The data half of a query whose exact values the caller sends, without those values.

    This is what is stored and read again.
    """

    keys: (
        Annotated[
            tuple[Text, ...],
            Field(strict=False, min_length=1, max_length=MOST_KEYS, fail_fast=True),
            AfterValidator(_unique),
        ]
        | None
    ) = None
    step: Number = 1
    bound: Number = 2**31
    sensitivity: AssertedSensitivity


class PushedVector(VectorSpec):
    """A vector as it is sent.

    ``values`` are left out of every dump and representation; ``vector.vector_steps`` is
    what looks at them.
    """

    values: Annotated[
        list[int | float],
        PlainValidator(exact_values),
        WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 1}),
        Field(exclude=True, repr=False),
    ]
