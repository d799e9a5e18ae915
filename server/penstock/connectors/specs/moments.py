"""Declare statistics of several columns: moments, a regression, marginals and workloads."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    SerializerFunctionWrapHandler,
    Tag,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from penstock.spec_fields import ColumnName, GroupBy, Grouped, Number, Spec, as_list

MOST_FACTORS = 12
"""The most columns whose products are released, which are 91 numbers for each key."""

MOST_NUMBERS = 100_000
"""The most numbers of a query: each group's estimates are listed with every release."""

MOST_TABLES = 1000
"""The most marginals of a query, and the most of their subsets."""

MOST_CELLS = 2**22
"""The most cells of a workload's columns together, and the most nodes of its strategy."""

MOST_TREE_KEYS = 1024
"""The most keys of a column that a tree protects: the answers take the square of it."""

MOST_OWN_KEYS = 64
MOST_OWN_ROWS = 200
"""The most keys and rows of a matrix that a workload gives: whether one is a combination of another
is decided exactly, which takes seconds for larger ones."""

LARGEST_ENTRY = 1000

QUERIES: Final = ("identity", "total", "marginals", "prefix", "all_ranges")
STRATEGIES: Final = ("identity", "tree", "marginals", "total")

LARGEST_GRID = 2**15
FINEST_GRID = 2**26
"""The most steps between a column's bounds: of products, and of sums alone, which are smaller."""

Order = Literal[1, 2]
"""The most columns that are multiplied with each other."""


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

LARGEST_WEIGHT = 64
EQUAL: Final = "equal"
"""The word for weights that are all equal."""

_ByNumber = Annotated[
    dict[Annotated[str, Field(max_length=600)], Annotated[int, Field(ge=1, le=LARGEST_WEIGHT)]],
    Field(max_length=MOST_FACTORS * (MOST_FACTORS + 3) // 2 + 1),
]


def _form_of_weights(value: object) -> str | None:
    if isinstance(value, dict):
        return "<by_number>"
    return "<equal>" if value == EQUAL else None


Weights = Annotated[
    Annotated[Literal["equal"], Tag("<equal>")] | Annotated[_ByNumber, Tag("<by_number>")],
    Discriminator(
        _form_of_weights,
        custom_error_type="weights",
        custom_error_message="This must be equal, or a weight for each number, as n and sum:x.",
    ),
]
"""How noise is shared between the numbers: ``equal``, or a weight for each, such as ``sum:x``."""

Grid = Annotated[int, Field(ge=16, le=FINEST_GRID), AfterValidator(_power_of_two)]
"""The number of steps between a column's bounds, a power of two."""


class _OnAGrid(Spec):
    bounds: Annotated[dict[ColumnName, Bounds], Field(max_length=MOST_FACTORS)] | None = None
    grid: Grid | None = None
    weights: Weights | None = None

    @model_validator(mode="after")
    def _require_coarse(self) -> Self:
        if self.grid is not None and self.grid > largest_grid_of(getattr(self, "order", 2)):
            raise PydanticCustomError(
                "grid",
                "Products are on a grid of at most {most} steps.",
                {"most": LARGEST_GRID, "field": "grid"},
            )
        return self

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what earlier versions did not have, so that their texts stay."""
        fields: dict[str, Any] = dump(self)
        former = {"order": 2, "weights": None}
        return {
            name: part
            for name, part in fields.items()
            if name not in former or part != former[name]
        }


def order_of(aggregate: object) -> Order:
    """Return how many columns are multiplied with each other at most."""
    return aggregate.order if isinstance(aggregate, Moments) else 2


def largest_grid_of(order: Order) -> int:
    """Return the most steps of a grid for products, or for sums alone."""
    return FINEST_GRID if order == 1 else LARGEST_GRID


class Moments(_OnAGrid):
    """The means, variances, covariances and correlations of columns over each group.

    With ``order`` 1 they are the count, the sums and the means, with less noise.  Values are cut to
    ``bounds``, for columns that are left out to the column's own, and rounded to one of ``grid``
    steps between them.  Of the released numbers one with a larger one of the ``weights`` has less
    noise; without any they are chosen for variances and covariances.
    """

    type: Literal["moments"]
    columns: Factors
    order: Order = 2


class Regression(_OnAGrid):
    """The coefficients of ``outcome`` on ``predictors`` by least squares, over each group.

    Values are cut and rounded as those of moments are.  Without ``weights`` they are chosen for the
    coefficients.
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


_Columns = Annotated[
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


class MarginalTables(Spec):
    """The numbers of rows of all cells of several sets of columns, which agree with each other.

    ``columns`` have the keys that groupings by them have.  ``sets`` name the columns of each table;
    in their place ``up_to`` stands for all sets of at most so many columns; without either it is 2.
    """

    type: Literal["marginals"]
    columns: _Columns
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


Matrix = tuple[tuple[int, ...], ...]
RowsOfColumn = str | Matrix
RowsByColumn = str | tuple[RowsOfColumn, ...]


def _rows_by_column(value: object, names: tuple[str, ...]) -> RowsByColumn:
    """Return one name for all columns, or a name or a matrix for each of them."""
    if isinstance(value, str):
        return _named(value, names)
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_FACTORS:
        raise PydanticCustomError(
            "rows",
            "This must be {names}, or a list with one of these or a matrix for each column.",
            {"names": ", ".join(names)},
        )
    return tuple(
        _named(each, names) if isinstance(each, str) else _matrix(each, place)
        for place, each in enumerate(value)
    )


def _named(value: str, names: tuple[str, ...]) -> str:
    if value not in names:
        raise PydanticCustomError(
            "rows",
            "The named matrices are {names}; name one, or give rows of integers.",
            {"names": ", ".join(names)},
        )
    return value


def _matrix(value: object, place: int) -> Matrix:
    """Return a matrix of integers.  Raises for any other value, and for too many."""
    rows = value if isinstance(value, list | tuple) else ()
    sizes = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
    fits = 1 <= len(rows) <= MOST_OWN_ROWS and len(sizes) == 1
    if not fits or not 1 <= max(sizes) <= MOST_OWN_KEYS:
        raise PydanticCustomError(
            "matrix",
            "The matrix of column {place} must be a list of 1 to {rows} rows, each a list of as"
            " many integers as the column has keys, at most {keys}.",
            {
                "place": place + 1,
                "rows": MOST_OWN_ROWS,
                "keys": MOST_OWN_KEYS,
                "field": str(place),
            },
        )
    for row in rows:
        for entry in row:
            if type(entry) is not int or abs(entry) > LARGEST_ENTRY:
                raise PydanticCustomError(
                    "matrix",
                    "The numbers of a matrix, here of column {place}, are integers from -{most} to"
                    " {most}.",
                    {"place": place + 1, "most": LARGEST_ENTRY, "field": str(place)},
                )
    return tuple(map(tuple, rows))


def _as_sent(value: object) -> object:
    return value


def _schema(names: tuple[str, ...]) -> dict[str, Any]:
    name = {"type": "string", "enum": list(names)}
    row = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": MOST_OWN_KEYS}
    matrix = {"type": "array", "items": row, "minItems": 1, "maxItems": MOST_OWN_ROWS}
    each = {"anyOf": [name, matrix]}
    columns = {"type": "array", "items": each, "minItems": 1, "maxItems": MOST_FACTORS}
    return {"anyOf": [name, columns]}


class Workload(Spec):
    """The answers to queries over the cells of several columns: products of one matrix for each.

    ``queries`` has a row for each sum of keys of a column that is asked, ``strategy`` one for each
    that is protected; both are named, for all columns or for each, or given as integers.
    """

    type: Literal["workload"]
    columns: _Columns
    queries: Annotated[
        RowsByColumn,
        PlainValidator(lambda value: _rows_by_column(value, QUERIES)),
        PlainSerializer(_as_sent, return_type=Any),
        WithJsonSchema(_schema(QUERIES)),
    ]
    strategy: Annotated[
        RowsByColumn,
        PlainValidator(lambda value: _rows_by_column(value, STRATEGIES)),
        PlainSerializer(_as_sent, return_type=Any),
        WithJsonSchema(_schema(STRATEGIES)),
    ] = "identity"
