"""Read answers: refuse fields whose type is not the one in the contract.

Unknown fields are ignored, so that a newer server may send more.
"""

import math
from collections.abc import Mapping
from datetime import date, datetime

from penstock_client.errors import ProtocolError

Part = str | int | float
Key = Part | tuple[Part, ...]
"""The name of one value: a text or a number, or several of them (one per column)."""


class Fields:
    """Hold one JSON object of an answer; ``where`` names it in messages.

    Every method raises ``ProtocolError`` if a field is missing or has another type.  Methods
    called ``..._or_none`` return None for a field that is left out or null.
    """

    __slots__ = ("where", "whole")

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise ProtocolError(f"The answer's {where} is {_kind(value)}, not an object.")
        self.whole: Mapping[str, object] = value
        self.where = where

    def text(self, name: str) -> str:
        return self._text(self.whole.get(name), name)

    def text_or_none(self, name: str) -> str | None:
        return None if self.whole.get(name) is None else self.text(name)

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._text(item, name) for item in self.items(name))

    def number(self, name: str) -> float:
        """Return a finite number.  Integers stay integers, so that no digits are lost."""
        value = self.whole.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._unexpected(name, "a number", value)
        _finite([value], f"{self.where}.{name}")
        return value

    def number_or_none(self, name: str) -> float | None:
        return None if self.whole.get(name) is None else self.number(name)

    def positive(self, name: str) -> float:
        value = self.number(name)
        if value <= 0:
            raise self._unexpected(name, "a number above 0", value)
        return value

    def integer(self, name: str) -> int:
        value = self.whole.get(name)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._unexpected(name, "an integer", value)
        return value

    def integer_or_none(self, name: str) -> int | None:
        return None if self.whole.get(name) is None else self.integer(name)

    def moment(self, name: str) -> datetime:
        """Return a time with its offset from UTC (RFC 3339)."""
        text = self.text(name)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self._unexpected(name, "a time", text) from None
        if moment.tzinfo is None:
            raise self._unexpected(name, "a time with its offset from UTC", text)
        return moment

    def moment_or_none(self, name: str) -> datetime | None:
        return None if self.whole.get(name) is None else self.moment(name)

    def days_or_none(self, name: str) -> tuple[date, ...]:
        """Return days (RFC 3339); none if they are null or left out."""
        texts = () if self.whole.get(name) is None else self.texts(name)
        try:
            return tuple(map(date.fromisoformat, texts))
        except ValueError:
            raise self._unexpected(name, "a list of days", texts) from None

    def child(self, name: str) -> "Fields":
        return Fields(self.whole.get(name), f"{self.where}.{name}")

    def child_or_none(self, name: str) -> "Fields | None":
        return None if self.whole.get(name) is None else self.child(name)

    def items(self, name: str) -> list[object]:
        value = self.whole.get(name)
        if not isinstance(value, list):
            raise self._unexpected(name, "a list", value)
        return value

    def children(self, name: str) -> list["Fields"]:
        return [Fields(item, f"{self.where}.{name}") for item in self.items(name)]

    def children_or_none(self, name: str) -> list["Fields"]:
        """Return the objects of a list; none if the list is left out."""
        return [] if self.whole.get(name) is None else self.children(name)

    def vector(self, name: str) -> tuple[float, ...]:
        """Return finite numbers, as floats."""
        values = self.items(name)
        if not set(map(type, values)) <= {int, float}:
            raise ProtocolError(
                f"The answer's {self.where}.{name} contains values other than numbers."
            )
        return _finite(values, f"{self.where}.{name}")

    def matrices(self, name: str) -> tuple[tuple[tuple[float, ...], ...], ...]:
        """Return square matrices of finite numbers, each by rows."""
        return tuple(self._square(item, name) for item in self.items(name))

    def keys(self, name: str, size: int) -> tuple[Key, ...]:
        """Return the names of ``size`` values; 0, 1, 2 ... if they are left out."""
        if self.whole.get(name) is None:
            return tuple(range(size))
        keys = tuple(self._key(item, name) for item in self.items(name))
        if len(keys) != size:
            raise ProtocolError(
                f"The answer's {self.where} has {len(keys)} {name} for {size} values."
            )
        return keys

    def key_or_none(self, name: str) -> Key | None:
        """Return the name of a group of values."""
        value = self.whole.get(name)
        return None if value is None else self._key(value, name)

    def _square(self, value: object, name: str) -> tuple[tuple[float, ...], ...]:
        if not isinstance(value, list):
            raise self._unexpected(name, "a list of matrices", value)
        rows = tuple(Fields({name: row}, self.where).vector(name) for row in value)
        if {len(row) for row in rows} != {len(rows)}:
            raise ProtocolError(
                f"The answer's {self.where}.{name} has a matrix that is not square."
            )
        return rows

    def _key(self, value: object, name: str) -> Key:
        if isinstance(value, list):
            return tuple(self._part(item, name) for item in value)
        return self._part(value, name)

    def _part(self, value: object, name: str) -> Part:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        return self._text(value, name)

    def _text(self, value: object, name: str) -> str:
        if not isinstance(value, str):
            raise self._unexpected(name, "a text", value)
        # JSON can escape half of a surrogate pair, which no terminal or file can write.
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ProtocolError(f"The answer's {self.where}.{name} is not valid Unicode.")
        return value

    def _unexpected(self, name: str, expected: str, value: object) -> ProtocolError:
        return ProtocolError(
            f"The answer's {self.where}.{name} is {_kind(value)}; the contract says {expected}."
        )


def _finite(values: list[object], where: str) -> tuple[float, ...]:
    try:
        floats = tuple(map(float, values))  # type: ignore[arg-type] # the caller compared the types
    except OverflowError:
        floats = (math.inf,)
    if not all(map(math.isfinite, floats)):
        raise ProtocolError(f"The answer's {where} is outside the range of floating-point numbers.")
    return floats


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", int: "a number", bool: "a boolean"}
    if value is None:
        return "missing"
    return kinds.get(type(value), "a number")
