"""Represent what is computed of a row: columns, numbers and texts, arithmetic, and choices.

Arithmetic is over integer columns with declared bounds: the server cuts each cell to them first.
"""

import datetime
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from penstock_client.errors import InvalidArgument
from penstock_client.tables.conditions import (
    Comparison,
    Condition,
    Joined,
    Scalar,
    Spec,
    Value,
    condition_of,
)

_COMBINED = (
    "A computed value is no condition: compare it. & and | bind more tightly than comparisons, so"
    ' put each one in parentheses, as in (col("age") >= 18) & (col("area") == "north").'
)


class Expression:
    """Represent a value of each row."""

    # Without it numpy's numbers would compare themselves with an expression first.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment] # comparing gives a condition

    def __eq__(self, other: object) -> Condition:  # type: ignore[override] # a condition on rows
        return self._compared("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override] # a condition on rows
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Condition:
        return self._compared("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compared(">=", other)

    def __add__(self, other: object) -> "Expression":
        return Arithmetic("add", (self, operand(other)))

    def __radd__(self, other: object) -> "Expression":
        return Arithmetic("add", (operand(other), self))

    def __sub__(self, other: object) -> "Expression":
        return Arithmetic("subtract", (self, operand(other)))

    def __rsub__(self, other: object) -> "Expression":
        return Arithmetic("subtract", (operand(other), self))

    def __mul__(self, other: object) -> "Expression":
        return Arithmetic("multiply", (self, operand(other)))

    def __rmul__(self, other: object) -> "Expression":
        return Arithmetic("multiply", (operand(other), self))

    def __neg__(self) -> "Expression":
        return Arithmetic("negate", (self,))

    def __truediv__(self, other: object) -> NoReturn:
        raise InvalidArgument(
            "Columns are not divided: their bounds would not bound the result. Release sums and"
            " counts, and divide the released numbers (penstock_client.derived.ratio)."
        )

    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __pow__ = __truediv__

    def __and__(self, other: object) -> Condition:
        return self.is_true() & other

    def __rand__(self, other: object) -> Condition:
        return condition_of(other) & self.is_true()

    def __or__(self, other: object) -> Condition:
        return self.is_true() | other

    def __ror__(self, other: object) -> Condition:
        return condition_of(other) | self.is_true()

    def __invert__(self) -> Condition:
        return ~self.is_true()

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(
            "A column has a value in each row, so it is neither true nor false here. Join"
            " conditions with & and | and negate with ~ (not with and, or, not, if)."
        )

    def is_true(self) -> Condition:
        """Return the condition that a boolean column is true."""
        raise InvalidArgument(_COMBINED)

    def is_null(self) -> Condition:
        """Return the condition that the value is missing."""
        return Comparison(self, "is_null")

    def is_not_null(self) -> Condition:
        """Return the condition that the value is not missing."""
        return Comparison(self, "is_not_null")

    def isin(self, values: Sequence[object]) -> Condition:
        """Return the condition that the value is one of ``values``."""
        if isinstance(values, str) or not values:
            raise InvalidArgument('isin takes a list of values, for example isin(["a", "b"]).')
        return Comparison(self, "in", tuple(scalar(value) for value in values))

    def between(self, lower: object, upper: object) -> Condition:
        """Return the condition that the value is from ``lower`` to ``upper``, both included."""
        return Joined("all", (self >= lower, self <= upper))

    def bin(self, edges: Sequence[float]) -> "Bins":
        """Return bins of the value: each has its lower edge, the last one its upper edge too."""
        cut = tuple(scalar(edge) for edge in edges)
        numbers = [edge for edge in cut if isinstance(edge, int | float)]
        rising = all(low < high for low, high in itertools.pairwise(numbers))
        if len(numbers) < max(len(cut), 2) or not rising:
            raise InvalidArgument("Bins have at least two edges, which rise: bin([18, 30, 65]).")
        return Bins(self, tuple(numbers))

    def sum(self) -> "Aggregate":
        """Return the sum over the rows of a group."""
        return self._aggregate("sum")

    def mean(self) -> "Aggregate":
        """Return the mean over the rows of a group."""
        return self._aggregate("mean")

    def variance(self) -> "Aggregate":
        """Return the variance of the rows of a group (of them all, not of a sample)."""
        return self._aggregate("variance")

    def standard_deviation(self) -> "Aggregate":
        """Return the root of the variance."""
        return self._aggregate("standard_deviation")

    def median(self) -> "Aggregate":
        """Return the median of the rows of a group."""
        return self._aggregate("median")

    def quantile(self, probability: float) -> "Aggregate":
        """Return the quantile at a probability between 0 and 1."""
        if not 0 < probability < 1:
            raise InvalidArgument(f"A probability is between 0 and 1, not {probability!r}.")
        return self._aggregate("quantile", float(probability))

    def min(self) -> "Aggregate":
        """Return an estimate of the smallest value, with a one-sided interval."""
        return self._aggregate("minimum")

    def max(self) -> "Aggregate":
        """Return an estimate of the largest value, with a one-sided interval."""
        return self._aggregate("maximum")

    def columns(self) -> Sequence[str]:
        """Return the names of the columns that it is computed from."""
        raise NotImplementedError

    def spec(self, inlined: Mapping[str, Value]) -> Spec:
        """Return the expression of a spec, with columns of ``inlined`` replaced by theirs."""
        raise NotImplementedError

    def _aggregate(self, kind: str, probability: float | None = None) -> "Aggregate":
        return Aggregate(kind, (self,), probability)

    def _compared(self, op: str, other: object) -> Condition:
        if isinstance(other, Expression):
            raise InvalidArgument(
                "A condition compares a column with a value. To compare integer columns with each"
                ' other, compare their difference: col("a") - col("b") > 0.'
            )
        return Comparison(self, op, scalar(other))


class Column(Expression):
    """Represent a column of the dataset, or one that ``mutate`` added."""

    def __init__(self, name: object) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f'A column has a name: col("age"), not {name!r}.')
        self.name = name

    def __str__(self) -> str:
        return self.name

    def is_true(self) -> Condition:
        return Comparison(self, "=", value=True)

    def columns(self) -> Sequence[str]:
        return (self.name,)

    def spec(self, inlined: Mapping[str, Value]) -> Spec:
        replaced = inlined.get(self.name)
        return {"column": self.name} if replaced is None else replaced.spec(inlined)


class Literal(Expression):
    """Represent the same number or text in each row."""

    def __init__(self, value: object) -> None:
        plain = scalar(value)
        if isinstance(plain, bool | float):
            raise InvalidArgument(f"An expression has integers and texts, not {plain!r}.")
        self.value = plain

    def __str__(self) -> str:
        return str(self.value)

    def columns(self) -> Sequence[str]:
        return ()

    def spec(self, inlined: Mapping[str, Value]) -> Spec:
        del inlined
        return self.value


_SIGNS = {"add": " + ", "subtract": " - ", "multiply": " * "}


class Arithmetic(Expression):
    """Represent a sum, a difference, a product or a negation of integers."""

    def __init__(self, operation: str, parts: tuple[Expression, ...]) -> None:
        self.operation = operation
        self.parts: tuple[Expression, ...] = ()
        for part in parts:
            if isinstance(part, Literal) and isinstance(part.value, str):
                raise InvalidArgument("Arithmetic is over integers; a text has no sum.")
            same = isinstance(part, Arithmetic) and part.operation == operation
            joins = same and operation in {"add", "multiply"}
            self.parts += part.parts if isinstance(part, Arithmetic) and joins else (part,)

    def __str__(self) -> str:
        parts = [f"({part})" if isinstance(part, Arithmetic) else str(part) for part in self.parts]
        return f"-{parts[0]}" if self.operation == "negate" else _SIGNS[self.operation].join(parts)

    def columns(self) -> Sequence[str]:
        return [name for part in self.parts for name in part.columns()]

    def spec(self, inlined: Mapping[str, Value]) -> Spec:
        parts = [part.spec(inlined) for part in self.parts]
        return {self.operation: parts[0] if self.operation == "negate" else parts}


class Case(Expression):
    """Represent the value of the first condition that holds, or ``otherwise``."""

    def __init__(
        self, branches: Sequence[tuple[Condition, Expression]], otherwise: Expression | None
    ) -> None:
        self.branches = tuple(branches)
        self.otherwise = otherwise

    def __str__(self) -> str:
        return f"case of {', '.join(dict.fromkeys(self.columns()))}"

    def columns(self) -> Sequence[str]:
        names = [name for _, value in self.branches for name in value.columns()]
        for condition, _ in self.branches:
            names += [name for subject in condition.subjects() for name in subject.columns()]
        return names + ([] if self.otherwise is None else list(self.otherwise.columns()))

    def spec(self, inlined: Mapping[str, Value]) -> Spec:
        def name_of(subject: Value) -> str:
            plain = subject.spec(inlined)
            name = plain.get("column") if isinstance(plain, dict) else None
            if not isinstance(name, str):
                raise InvalidArgument(
                    f"A condition inside case compares a column of the dataset, not {subject}."
                )
            return name

        branches = [
            {"when": condition.entry(name_of), "then": value.spec(inlined)}
            for condition, value in self.branches
        ]
        if self.otherwise is None:
            return {"case": branches}
        return {"case": branches, "else": self.otherwise.spec(inlined)}


@dataclass(frozen=True, eq=False)
class Aggregate:
    """Hold the kind of a statistic of groups, and the values that it is over."""

    kind: str
    parts: tuple[Expression, ...] = ()
    probability: float | None = None


@dataclass(frozen=True, eq=False)
class Bins:
    """Hold bins of a value, to group by."""

    subject: Expression
    edges: tuple[float, ...]


def col(name: str) -> Column:
    """Return a column by its name."""
    return Column(name)


def lit(value: object) -> Literal:
    """Return the same number or text for each row."""
    return Literal(value)


def case(*branches: tuple[object, object], otherwise: object = None) -> Case:
    """Return the value of the first branch, (condition, value), whose condition holds.

    Where none holds it is ``otherwise``, and missing if that is left out.
    """
    if not branches or any(map(_is_no_pair, branches)):
        raise InvalidArgument(
            'case takes pairs of a condition and a value: case((col("age") < 18, "child"),'
            ' otherwise="adult").'
        )
    pairs = [(condition_of(condition), operand(value)) for condition, value in branches]
    return Case(pairs, None if otherwise is None else operand(otherwise))


def _is_no_pair(branch: object) -> bool:
    return not isinstance(branch, tuple) or len(branch) != 2


def operand(value: object) -> Expression:
    """Return a part of an expression: itself, or a number or a text.

    Raises ``InvalidArgument`` for anything else.
    """
    if isinstance(value, Condition):
        raise InvalidArgument("A condition is no value; case((condition, 1), otherwise=0) is one.")
    return value if isinstance(value, Expression) else Literal(value)


def scalar(value: object) -> Scalar:
    """Return a cell's value as JSON has it; also of dates and of numpy's numbers.

    Raises ``InvalidArgument`` for anything else.
    """
    if value is None:
        raise InvalidArgument("A missing cell equals nothing; ask with is_null() instead.")
    if isinstance(value, datetime.date):
        return value.isoformat()
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    if isinstance(plain, float) and not math.isfinite(plain):
        raise InvalidArgument(f"{plain} is no value of a cell.")
    if isinstance(plain, str | int | float | bool):
        return plain
    raise InvalidArgument(
        f"A value is a text, a number, a date, True or False, not a {type(value).__name__}."
    )
