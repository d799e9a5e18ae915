"""Define the kinds of field that specs are made of: names, texts, numbers, values, groupings.

Each has one validator, so that a wrong value gives one error in plain words; errors do not repeat
the value, which may be huge or secret.
"""

import math
import unicodedata
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

MOST_BINS = 10_000

LARGEST = 2**63 - 1
"""The largest absolute value of a number in a spec."""

LONGEST_NAME = 64
LONGEST_COLUMN_NAME = 128
NUMBER_MARK = ","
LONGEST_TEXT = 1024
LONGEST_LIST = 1000

Scalar = str | int | float | bool


class Spec(BaseModel):
    """Refuse unknown fields, wrong types, NaN and infinities, as a strict, frozen model."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


def folded(name: str) -> str:
    """Return the form in which names are compared: without case, in one Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def without_number(name: str) -> str:
    """Return a query's name without the number of its maker's tier, which follows a comma.

    No request has a comma in a name, so that no other name is like it.
    """
    return name.partition(NUMBER_MARK)[0]


def _name(value: str) -> str:
    name = unicodedata.normalize("NFC", value)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise PydanticCustomError(
            "name", "A name has 1 to {most} characters.", {"most": LONGEST_NAME}
        )
    if not name[0].isalnum():
        raise PydanticCustomError("name", "A name begins with a letter or a digit.")
    # Slashes separate paths, commas the names in a query string.
    if not name.isprintable() or set(name) & {"/", ","} or name.endswith(" "):
        raise PydanticCustomError(
            "name",
            "A name contains no control characters, slashes or commas, and does not end with a"
            " space.",
        )
    return name


def _column_name(value: str) -> str:
    if not 1 <= len(value) <= LONGEST_COLUMN_NAME:
        raise PydanticCustomError(
            "column_name",
            "A column's name has 1 to {most} characters.",
            {"most": LONGEST_COLUMN_NAME},
        )
    if not _is_plain(value):
        raise PydanticCustomError("column_name", "A column's name contains no control characters.")
    return value


def _is_plain(text: str) -> bool:
    return text.isprintable() or not any(
        unicodedata.category(character) in {"Cc", "Cs"} for character in text
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("text", "This must be a string.")
    if len(value) > LONGEST_TEXT:
        raise PydanticCustomError(
            "text", "A string has at most {most} characters here.", {"most": LONGEST_TEXT}
        )
    if not _is_plain(value):
        raise PydanticCustomError("text", "A string here contains no control characters.")
    return value


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number", "This must be a number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("number", "This must be a finite number.")
    if abs(value) > LARGEST:
        raise PydanticCustomError("number", "A number is at most 2^63 - 1 in absolute value.")
    return value


def _scalar(value: object) -> Scalar:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    raise PydanticCustomError("scalar", "This must be a string, a number, true or false.")


def _scalar_or_list(value: object) -> Scalar | tuple[Scalar, ...]:
    if not isinstance(value, list | tuple):
        return _scalar(value)
    if not 1 <= len(value) <= LONGEST_LIST:
        raise PydanticCustomError("list", "A list has 1 to {most} values.", {"most": LONGEST_LIST})
    return tuple(_scalar(entry) for entry in value)


def _as_it_is(value: object) -> object:
    return value


def as_list(value: object) -> object:
    """Convert one name or object to a list of it."""
    return [value] if isinstance(value, str | dict) else value


def as_column(value: object) -> object:
    """Convert a column's name to the object that names it."""
    return {"column": value} if isinstance(value, str) else value


def as_epsilon(value: object) -> object:
    """Convert a number to the object with that epsilon."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"epsilon": value} if is_number else value


def each_once(value: object) -> object:
    """Refuse two spellings of one name, which would become one entry and lose a value."""
    if isinstance(value, dict):
        names = [name for name in value if isinstance(name, str)]
        if len({folded(name) for name in names}) < len(names):
            raise PydanticCustomError("twice", "A tier is listed twice; keep one of the two.")
    return value


Name = Annotated[str, AfterValidator(_name)]
"""1 to 64 characters, a letter or digit first, normalized to Unicode NFC."""

ColumnName = Annotated[str, AfterValidator(_column_name)]
"""A column's name exactly as in the file."""

Text = Annotated[str, PlainValidator(_text), WithJsonSchema({"type": "string"})]

Number = Annotated[int | float, PlainValidator(_number), WithJsonSchema({"type": "number"})]
"""A finite number; an integer stays one."""

_SCALAR_SCHEMA = {"type": ["string", "number", "boolean"]}

Value = Annotated[Scalar, PlainValidator(_scalar), WithJsonSchema(_SCALAR_SCHEMA)]
"""One value of a cell: a string (also for a date), a number, true or false."""

Values = Annotated[
    Scalar | tuple[Scalar, ...],
    PlainValidator(_scalar_or_list),
    # Without our own, pydantic warns about every list: it expects a tuple in JSON.
    PlainSerializer(_as_it_is, return_type=Any),
    WithJsonSchema(
        {"anyOf": [_SCALAR_SCHEMA, {"type": "array", "items": _SCALAR_SCHEMA, "minItems": 1}]}
    ),
]
"""One value, or a list of them."""

Edges = Annotated[
    tuple[Number, ...],
    Field(strict=False, min_length=2, max_length=MOST_BINS + 1, fail_fast=True),
]
"""Edges of bins, rising; a bin holds its lower edge, the last one its upper edge too."""


class GroupBy(Spec):
    """One grouping: a column's categories, or bins over its values."""

    column: ColumnName
    bins: Edges | None = None


Grouped = Annotated[
    GroupBy, BeforeValidator(as_column, json_schema_input_type=GroupBy | ColumnName)
]
"""One grouping; a column's name alone is one by its categories."""
