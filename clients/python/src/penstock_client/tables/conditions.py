"""Represent conditions on rows: comparisons, joined by ``&``, ``|`` and ``~``.

A condition on a missing cell is neither true nor false, as in SQL; a row is kept where it is true.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from penstock_client.errors import InvalidArgument

Scalar = str | int | float | bool
Entry = dict[str, object]
Spec = int | str | dict[str, object]


class Value(Protocol):
    """Represent what is computed of a row, which is an ``Expression``."""

    def columns(self) -> Sequence[str]:
        """Return the names of the columns that it is computed from."""

    def spec(self, inlined: "Mapping[str, Value]") -> Spec:
        """Return the expression of a spec, with columns of ``inlined`` replaced by theirs."""


Naming = Callable[[Value], str]
"""Returns the name of the column, maybe a derived one, that has a value's cells."""

OPPOSITES = {
    "=": "!=",
    "<": ">=",
    "<=": ">",
    "in": "not_in",
    "is_null": "is_not_null",
    "!=": "=",
    ">=": "<",
    ">": "<=",
    "not_in": "in",
    "is_not_null": "is_null",
}
"""The operators that hold where the others do not; of a missing cell neither does."""


class Condition:
    """Represent what a row must meet.  Join conditions with ``&`` and ``|``; ``~`` is not."""

    __slots__ = ()

    def __and__(self, other: object) -> "Condition":
        return Joined("all", (self, condition_of(other)))

    def __rand__(self, other: object) -> "Condition":
        return Joined("all", (condition_of(other), self))

    def __or__(self, other: object) -> "Condition":
        return Joined("any", (self, condition_of(other)))

    def __ror__(self, other: object) -> "Condition":
        return Joined("any", (condition_of(other), self))

    def __invert__(self) -> "Condition":
        return Opposite(self)

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(
            "A condition is about each row, so it is neither true nor false here. Join conditions"
            " with & and |, each in parentheses, and negate with ~ (not with and, or, not, if);"
            " instead of a < x < b write x.between(a, b)."
        )

    def entry(self, name_of: Naming) -> Entry:
        """Return the entry of a spec's ``where``."""
        raise NotImplementedError

    def subjects(self) -> Sequence[Value]:
        """Return the expressions that are compared."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, slots=True)
class Comparison(Condition):
    """Hold an expression, an operator, and the value or the values that it is compared with."""

    subject: Value
    op: str
    value: Scalar | tuple[Scalar, ...] | None = None

    def __invert__(self) -> Condition:
        return Comparison(self.subject, OPPOSITES[self.op], self.value)

    def entry(self, name_of: Naming) -> Entry:
        entry: Entry = {"column": name_of(self.subject), "op": self.op}
        if self.value is not None:
            entry["value"] = list(self.value) if isinstance(self.value, tuple) else self.value
        return entry

    def subjects(self) -> Sequence[Value]:
        return (self.subject,)


@dataclass(frozen=True, eq=False, slots=True)
class Joined(Condition):
    """Hold conditions of which ``all``, or ``any``, must hold."""

    how: str
    parts: tuple[Condition, ...]

    def entry(self, name_of: Naming) -> Entry:
        return {self.how: [part.entry(name_of) for part in self.flat()]}

    def flat(self) -> Sequence[Condition]:
        """Return the conditions, with those of nested parts that are joined in the same way."""
        flat: list[Condition] = []
        for part in self.parts:
            same = isinstance(part, Joined) and part.how == self.how
            flat += part.flat() if isinstance(part, Joined) and same else [part]
        return flat

    def subjects(self) -> Sequence[Value]:
        return [subject for part in self.parts for subject in part.subjects()]


@dataclass(frozen=True, eq=False, slots=True)
class Opposite(Condition):
    """Hold a condition that must not hold."""

    part: Condition

    def __invert__(self) -> Condition:
        return self.part

    def entry(self, name_of: Naming) -> Entry:
        return {"not": self.part.entry(name_of)}

    def subjects(self) -> Sequence[Value]:
        return self.part.subjects()


def condition_of(value: object) -> Condition:
    """Return a condition; a column by itself is one where it is true.

    Raises ``InvalidArgument`` for anything else.
    """
    if isinstance(value, Condition):
        return value
    as_condition = getattr(value, "is_true", None)
    if as_condition is not None and not isinstance(value, type):
        condition: Condition = as_condition()
        return condition
    raise InvalidArgument(
        f'{_in_words(value)} is no condition. Compare a column, for example col("age") >= 18, and'
        " put each comparison that is joined by & or | in parentheses."
    )


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return f"{value}, the outcome of a comparison in Python,"
    return repr(value) if isinstance(value, str | int | float) else f"A {type(value).__name__}"
