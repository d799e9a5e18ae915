"""Read a query's derived columns, and place them among those of its dataset.

A derived column is a declared one from then on: an integer with the bounds that follow, or a text
with the categories that it may have.  Everything that holds of declared columns holds of it.
"""

import math
from collections.abc import Mapping, Sequence

from penstock.connectors.formulas.arithmetic import (
    Cases,
    Computed,
    Constant,
    Cut,
    DerivedSpec,
    TextCell,
    added,
    multiplied,
    negated,
)
from penstock.connectors.formulas.expressions import (
    LARGEST_INTEGER,
    Add,
    Case,
    ColumnCell,
    Expression,
    Multiply,
    Negate,
    Subtract,
)
from penstock.connectors.formulas.normal_form import formula_of
from penstock.connectors.formulas.sizes import require_each_small
from penstock.connectors.planning.columns import column_of, declared
from penstock.connectors.planning.refusals import Refusals, pointer
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec
from penstock.errors import InvalidInput

Place = tuple[str | int, ...]


def with_derived(dataset: DatasetSpec, derived: Mapping[str, Expression]) -> DatasetSpec:
    """Return the dataset with derived columns among its own; unchanged if there are none.

    Raises ``InvalidInput`` with a place of each column that is not valid.
    """
    if not derived:
        return dataset
    require_each_small(derived)
    refusals = Refusals()
    taken = {name.casefold() for name in dataset.columns}
    columns: dict[str, ColumnSpec] = {}
    for name, expression in derived.items():
        with refusals:
            if name.casefold() in taken:
                raise InvalidInput(
                    "The dataset or the query has a column of this name; choose another one.",
                    pointer=pointer("derived", name),
                )
            taken.add(name.casefold())
            columns[name] = _spec_of(_computed(dataset, expression, ("derived", name)))
    refusals.raise_all()
    return dataset.model_copy(update={"columns": {**dataset.columns, **columns}})


def _spec_of(computed: Computed) -> DerivedSpec:
    bounds = computed.bounds
    if bounds is None:
        return DerivedSpec(type="string", categories=computed.categories, computed=computed)
    return DerivedSpec(
        type="integer",
        categories=computed.categories,
        lower=bounds[0],
        upper=bounds[1],
        computed=computed,
    )


def _computed(dataset: DatasetSpec, expression: Expression, at: Place) -> Computed:
    """Return an expression in normal form.  Raises ``InvalidInput`` at the part that is wrong."""
    match expression:
        case int() | str():
            return Constant(expression)
        case ColumnCell():
            return _cell(dataset, expression.column, (*at, "column"))
        case Case():
            return _cases(dataset, expression, at)
    with_name = {Add: "add", Subtract: "subtract", Multiply: "multiply", Negate: "negate"}
    field = with_name[type(expression)]
    if isinstance(expression, Negate):
        parts = [_integer(dataset, expression.negate, (*at, field))]
    else:
        sent: Sequence[Expression] = getattr(expression, field)
        parts = [_integer(dataset, part, (*at, field, place)) for place, part in enumerate(sent)]
    try:
        match expression:
            case Subtract():
                return added([parts[0], negated(parts[1])])
            case Negate():
                return negated(parts[0])
            case Multiply():
                return multiplied(parts)
        return added(parts)
    except InvalidInput as error:
        raise InvalidInput(error.detail, pointer=pointer(*at, field)) from None


def _integer(dataset: DatasetSpec, expression: Expression, at: Place) -> Computed:
    """Return an expression that is an integer."""
    computed = _computed(dataset, expression, at)
    if computed.bounds is None:
        raise InvalidInput("This is a text; only integers are computed with.", pointer=pointer(*at))
    return computed


def _cell(dataset: DatasetSpec, name: str, at: Place) -> Computed:
    spec, column = declared(dataset, name, *at), None
    column = column_of(dataset, name)
    if spec.type == "string" and spec.categories is not None:
        return TextCell(column, tuple(map(str, spec.categories)))
    if spec.type != "integer":
        raise InvalidInput(
            f"Columns are derived from integers with bounds and from texts with categories; {name}"
            f" is declared as {spec.type}{' without categories' * (spec.type == 'string')}.",
            pointer=pointer(*at),
        )
    if spec.lower is None or spec.upper is None:
        raise InvalidInput(
            f"Bounds are needed, to which cells are cut: declare lower and upper of {name} in the"
            " dataset.",
            pointer=pointer(*at),
        )
    lowest, highest = math.ceil(spec.lower), math.floor(spec.upper)
    if lowest > highest or max(abs(lowest), abs(highest)) > LARGEST_INTEGER:
        raise InvalidInput(
            f"The bounds of {name} must have an integer between them and be at most 2^52; declare"
            " others in the dataset.",
            pointer=pointer(*at),
        )
    return Cut(column, lowest, highest)


def _cases(dataset: DatasetSpec, expression: Case, at: Place) -> Computed:
    cases = tuple(
        (
            formula_of(dataset, each.when, *at, "case", place, "when"),
            _computed(dataset, each.then, (*at, "case", place, "then")),
        )
        for place, each in enumerate(expression.case)
    )
    otherwise = (
        None
        if expression.otherwise is None
        else _computed(dataset, expression.otherwise, (*at, "else"))
    )
    computed = Cases(cases, otherwise)
    if len({value.bounds is None for value in computed.values}) > 1:
        raise InvalidInput(
            "The values of a case are all integers or all texts; write integers as texts, or texts"
            " as integers.",
            pointer=pointer(*at, "case"),
        )
    return computed
