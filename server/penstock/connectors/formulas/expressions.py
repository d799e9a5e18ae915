"""Declare columns that are computed from declared ones: integers, texts, arithmetic and cases.

A missing cell makes a sum, difference or product missing.  A case has the value of its first
condition that is true; without ``else`` it is missing where none is.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from penstock.connectors.formulas.conditions import DEEPEST, MOST_ENTRIES, Entry, depths, within
from penstock.spec_fields import ColumnName, Spec, Text

MOST_DERIVED = 32
"""The most derived columns of a query."""

MOST_PARTS = 4 * MOST_ENTRIES
"""The most parts of all derived columns together, their conditions included."""

_DEEPEST = 2 * DEEPEST
"""How deep parts may stand within each other; each value of a case is two steps down."""

LARGEST_INTEGER = 2**52
"""The largest absolute value of a derived column, and of any value on the way to it."""

_OPERATIONS: Final = ("column", "add", "subtract", "multiply", "negate", "case")


class _Aliased(Spec):
    model_config = ConfigDict(serialize_by_alias=True)


class ColumnCell(Spec):
    """The cell of a declared column; an integer is cut to the column's bounds first."""

    column: ColumnName


class Add(Spec):
    """The sum of integers."""

    add: Annotated["tuple[Expression, ...]", Field(strict=False, min_length=1)]


class Subtract(Spec):
    """The difference of two integers."""

    subtract: Annotated["tuple[Expression, ...]", Field(strict=False, min_length=2, max_length=2)]


class Multiply(Spec):
    """The product of integers."""

    multiply: Annotated["tuple[Expression, ...]", Field(strict=False, min_length=1)]


class Negate(Spec):
    """The opposite of an integer."""

    negate: "Expression"


class When(Spec):
    """What a case is where a condition is true."""

    when: Entry
    then: "Expression"


class Case(_Aliased):
    """What belongs to the first condition that is true; ``else`` where none is, or missing."""

    case: Annotated["tuple[When, ...]", Field(strict=False, min_length=1)]
    otherwise: Annotated["Expression | None", Field(alias="else")] = None

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave ``else`` out where there is none."""
        fields: dict[str, Any] = dump(self)
        return {name: part for name, part in fields.items() if part is not None}


_CLASSES: Final[Mapping[type, str]] = {
    ColumnCell: "column",
    Add: "add",
    Subtract: "subtract",
    Multiply: "multiply",
    Negate: "negate",
    Case: "case",
}


def _kind_of_expression(value: object) -> str | None:
    if isinstance(value, str):
        return "<text>"
    if isinstance(value, int) and not isinstance(value, bool):
        return "<integer>"
    if isinstance(value, Mapping):
        return next((f"<{name}>" for name in _OPERATIONS if name in value), None)
    name = _CLASSES.get(type(value))
    return None if name is None else f"<{name}>"


Expression = Annotated[
    Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER), Tag("<integer>")]
    | Annotated[Text, Tag("<text>")]
    | Annotated[ColumnCell, Tag("<column>")]
    | Annotated[Add, Tag("<add>")]
    | Annotated[Subtract, Tag("<subtract>")]
    | Annotated[Multiply, Tag("<multiply>")]
    | Annotated[Negate, Tag("<negate>")]
    | Annotated[Case, Tag("<case>")],
    Discriminator(
        _kind_of_expression,
        custom_error_type="expression",
        custom_error_message=(
            "This must be an integer, a text, or an object with column, add, subtract, multiply,"
            " negate or case."
        ),
    ),
]

for _each in (Add, Subtract, Multiply, Negate, When, Case):
    _each.model_rebuild()


def parts_of(part: object) -> list[object]:
    """Return what an expression, or a condition in it, is made of, as it was sent."""
    match part:
        case Add():
            return list(part.add)
        case Subtract():
            return list(part.subtract)
        case Multiply():
            return list(part.multiply)
        case Negate():
            return [part.negate]
        case When():
            return [part.when, part.then]
        case Case():
            return [*part.case, *([] if part.otherwise is None else [part.otherwise])]
    if not isinstance(part, Mapping):
        return within(part)
    inner = [part[name] for name in ("negate", "else", "when", "then") if name in part]
    for name in ("add", "subtract", "multiply", "case"):
        several = part.get(name)
        inner += several if isinstance(several, list | tuple) else []
    return [*inner, *within(part)]


def require_small(value: object) -> object:
    """Return derived columns as they were sent.  Raises ``PydanticCustomError`` for too large ones.

    Parts are counted before anything is built of them.
    """
    sent = list(value.values()) if isinstance(value, Mapping) else []
    for count, depth in enumerate(depths(sent, parts_of), 1):
        if count > MOST_PARTS:
            raise PydanticCustomError(
                "parts",
                "Derived columns have at most {most} parts together, with their conditions.",
                {"most": MOST_PARTS},
            )
        if depth > _DEEPEST:
            raise PydanticCustomError(
                "parts",
                "Parts of a derived column stand more than {most} deep within each other.",
                {"most": _DEEPEST},
            )
    return value


Derived = Annotated[
    dict[ColumnName, Expression],
    Field(max_length=MOST_DERIVED),
    BeforeValidator(require_small),
]
"""Columns of a query that are computed, by name."""
