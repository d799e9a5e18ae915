"""Declare statistics of several columns at once: moments, a regression, and marginals."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.spec_fields import ColumnName, GroupBy, Grouped, Number, Spec, as_list

MOST_FACTORS = 12
"""The most columns whose products are released, which are 91 numbers for each key."""

MOST_NUMBERS = 100_000
"""The most numbers of a query: each group's estimates are listed with every release."""

MOST_TABLES = 1000
"""The most marginals of a query, and the most of their subsets."""

LARGEST_GRID = 2**15


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PydanticCustomError("keys", "Every column occurs once.")
    return names


def _power_of_two(grid: int) -> int:
    if grid & (grid - 1):
        raise PydanticCustomError("grid", "This must be a power of two, for example 1024.")
    return grid


Factors = Annotated[
    tuple[ColumnName, ...],
    Field(strict=False, min_length=1, max_length=MOST_FACTORS),
    AfterValidator(_once),
    BeforeValidator(
        as_list,
        json_schema_input_type=Annotated[
            list[ColumnName], Field(min_length=1, max_length=MOST_FACTORS)
        ]
        | ColumnName,
    ),
]
"""Columns of integers or numbers; one alone needs no list around it."""

Bounds = Annotated[tuple[Number, Number], Field(strict=False)]
"""The lower bound and the upper bound of a column's values."""

Grid = Annotated[int, Field(ge=16, le=LARGEST_GRID), AfterValidator(_power_of_two)]
"""The number of steps between a column's bounds, a power of two."""


class _OnAGrid(Spec):
    bounds: Annotated[dict[ColumnName, Bounds], Field(max_length=MOST_FACTORS)] | None = None
    grid: Grid | None = None


class Moments(_OnAGrid):
    """The means, variances, covariances and correlations of columns over each group.

    Values are cut to ``bounds``, for columns that are left out to the column's own, and rounded to
    one of ``grid`` steps between them.
    """

    type: Literal["moments"]
    columns: Factors


class Regression(_OnAGrid):
    """The coefficients of ``outcome`` on ``predictors`` by least squares, over each group.

    Values are cut and rounded as those of moments are.
    """

    type: Literal["regression"]
    outcome: ColumnName
    predictors: Annotated[Factors, Field(max_length=MOST_FACTORS - 1)]

    @model_validator(mode="after")
    def _require_other_outcome(self) -> "Regression":
        if self.outcome in self.predictors:
            raise PydanticCustomError(
                "outcome",
                "The outcome is one of the predictors; leave it out there.",
                {"field": "predictors"},
            )
        return self


def _columns_once(columns: tuple[GroupBy, ...]) -> tuple[GroupBy, ...]:
    _once(tuple(each.column for each in columns))
    return columns


_Sets = tuple[Annotated[tuple[ColumnName, ...], Field(strict=False, min_length=1)], ...]


class MarginalTables(Spec):
    """The numbers of rows of all cells of several sets of columns, which agree with each other.

    ``columns`` have the keys that groupings by them have.  ``sets`` name the columns of each table;
    in their place ``up_to`` stands for all sets of at most so many columns; without either it is 2.
    """

    type: Literal["marginals"]
    columns: Annotated[
        tuple[Grouped, ...],
        Field(strict=False, min_length=1, max_length=MOST_FACTORS),
        AfterValidator(_columns_once),
        BeforeValidator(
            as_list,
            json_schema_input_type=Annotated[
                list[Grouped], Field(min_length=1, max_length=MOST_FACTORS)
            ]
            | Grouped,
        ),
    ]
    sets: Annotated[_Sets, Field(strict=False, min_length=1, max_length=MOST_TABLES)] | None = None
    up_to: Annotated[int, Field(ge=1, le=MOST_FACTORS)] | None = None

    @model_validator(mode="after")
    def _require_either(self) -> "MarginalTables":
        if self.sets is not None and self.up_to is not None:
            raise PydanticCustomError(
                "sets",
                "The sets are named already; leave up_to out, or the sets.",
                {"field": "up_to"},
            )
        return self
