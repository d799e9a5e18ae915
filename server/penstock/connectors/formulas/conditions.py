"""Declare conditions on rows: comparisons of a column, joined by ``any``, ``all`` and ``not``.

The logic is SQL's, with three values: a comparison with a missing cell is unknown, and so is the
opposite of what is unknown.  A row is kept where all of its conditions are true.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    Tag,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from penstock.spec_fields import ColumnName, Spec, Values, as_list

MOST_ENTRIES = 256
"""The most entries of a query's conditions: comparisons, and what joins them."""

DEEPEST = 16
"""How deep entries may stand within each other."""

OF_NOTHING: Final = frozenset({"is_null", "is_not_null"})
"""The comparisons that have no value."""

_JOINING: Final = ("any", "all", "not")


class Condition(Spec):
    """A comparison of a column's cell; one with a missing cell is unknown.

    ``is_null`` and ``is_not_null`` take no value, and are never unknown.
    """

    column: ColumnName
    op: Literal["=", "!=", "<", "<=", ">", ">=", "in", "not_in", "is_null", "is_not_null"]
    value: Values | None = None

    @model_validator(mode="after")
    def _require_value(self) -> "Condition":
        if self.op in OF_NOTHING and self.value is not None:
            raise PydanticCustomError(
                "value", "{op} takes no value; leave it out.", {"op": self.op, "field": "value"}
            )
        if self.op not in OF_NOTHING and self.value is None:
            raise PydanticCustomError(
                "value", "Enter what it is compared with, for example 2025.", {"field": "value"}
            )
        return self

    @model_serializer(mode="wrap")
    def _dumped(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the value of a comparison that has none."""
        fields: dict[str, Any] = dump(self)
        return {name: part for name, part in fields.items() if part is not None}


class _Joined(Spec):
    model_config = ConfigDict(serialize_by_alias=True)


class AnyOf(_Joined):
    """At least one of the entries holds."""

    any_of: Annotated["tuple[Entry, ...]", Field(strict=False, min_length=1, alias="any")]


class AllOf(_Joined):
    """Each of the entries holds."""

    all_of: Annotated["tuple[Entry, ...]", Field(strict=False, min_length=1, alias="all")]


class NotOf(_Joined):
    """The entry does not hold; what is unknown stays unknown."""

    not_of: Annotated["Entry", Field(alias="not")]


def _kind_of_entry(value: object) -> str:
    if isinstance(value, AnyOf | AllOf | NotOf):
        return {AnyOf: "<any>", AllOf: "<all>", NotOf: "<not>"}[type(value)]
    sent = value if isinstance(value, Mapping) else {}
    return next((f"<{joining}>" for joining in _JOINING if joining in sent), "<condition>")


Entry = Annotated[
    Annotated[Condition, Tag("<condition>")]
    | Annotated[AnyOf, Tag("<any>")]
    | Annotated[AllOf, Tag("<all>")]
    | Annotated[NotOf, Tag("<not>")],
    Discriminator(_kind_of_entry),
]

for _each in (AnyOf, AllOf, NotOf):
    _each.model_rebuild()


def within(entry: object) -> list[object]:
    """Return the entries that an entry joins, as they were sent; none of a comparison."""
    match entry:
        case AnyOf():
            return list(entry.any_of)
        case AllOf():
            return list(entry.all_of)
        case NotOf():
            return [entry.not_of]
        case {"not": inner}:
            return [inner]
        case {"any": list() | tuple() as inner} | {"all": list() | tuple() as inner}:
            return list(inner)
    return []


def depths(parts: Iterable[object], inner: Callable[[object], list[object]]) -> Iterator[int]:
    """Yield how deep each part stands, those within others too; ``inner`` returns a part's own."""
    left = [(part, 1) for part in parts]
    while left:
        part, depth = left.pop()
        yield depth
        left += [(each, depth + 1) for each in inner(part)]


def require_few(value: object) -> object:
    """Return conditions as they were sent.  Raises ``PydanticCustomError`` for too many, too deep.

    They are counted before anything is built of them.
    """
    sent = value if isinstance(value, list | tuple) else []
    for count, depth in enumerate(depths(sent, within), 1):
        if count > MOST_ENTRIES:
            raise PydanticCustomError(
                "entries",
                "The conditions have more than {most} entries, counting each any, all and not.",
                {"most": MOST_ENTRIES},
            )
        if depth > DEEPEST:
            raise PydanticCustomError(
                "entries",
                "The conditions stand more than {most} deep within each other.",
                {"most": DEEPEST},
            )
    return value


Conditions = Annotated[
    tuple[Entry, ...],
    Field(strict=False, max_length=MOST_ENTRIES),
    BeforeValidator(require_few),
    BeforeValidator(
        as_list,
        json_schema_input_type=Annotated[list[Entry], Field(max_length=MOST_ENTRIES)] | Entry,
    ),
]
"""Conditions, all of which hold; one alone needs no list around it."""
