"""Tell how a Parquet file stores its decimals, and leave out those with too many digits.

A file may store a decimal in more bytes than its digits need.  The engine fails at the first cell
whose number needs these bytes too.  Of decimals that are stored as whole numbers it cuts off the
upper bits instead, which concerns that cell alone, so those are always read by the engine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

DIGITS: Final = 38
"""The most digits of the engine's decimals; it reads longer ones as doubles."""

_LONGEST: Final = 16
"""The most bytes of a decimal that Arrow reads."""

_ENGINE: Final = ((4, 2), (9, 4), (18, 8), (DIGITS, 16))
"""The bytes of the engine's decimals, by their most digits."""


@dataclass(frozen=True)
class BytesDecimal:
    """Represent a decimal that is stored as bytes; ``length`` is 0 if each cell has its own."""

    kind: Any
    length: int

    def __str__(self) -> str:
        """Return the type for messages."""
        return f"{self.kind} in {self.length or 'any number of'} bytes"

    @property
    def readable(self) -> bool:
        """Return False if Arrow would fail at the column, or at one of its cells."""
        return 0 < self.length <= _LONGEST

    @property
    def may_fail(self) -> bool:
        """Return True if the engine fails at a cell whose number needs all of its bytes."""
        room = next(room for digits, room in _ENGINE if self.kind.precision <= digits)
        return self.length > room


def with_storage(kinds: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Return the columns' types, with ``BytesDecimal`` for decimals that are stored as bytes.

    ``schema`` is the Parquet schema of a file; ``kinds`` are its columns' Arrow types.
    """
    import pyarrow.types as of

    lengths = {
        column.path: column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else 0
        for column in map(schema.column, range(len(schema)))
        if column.physical_type in {"FIXED_LEN_BYTE_ARRAY", "BYTE_ARRAY"}
    }
    return {
        name: BytesDecimal(kind, lengths[name])
        if name in lengths and of.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= DIGITS
        else kind
        for name, kind in kinds.items()
    }


def within_digits(column: Any) -> Any:
    """Return decimals with null for each that has more digits than its type.

    Nothing keeps such a one out of a file, and the engine would show what else is in its memory.
    """
    import pyarrow as pa

    kind = column.type
    if not 0 <= kind.scale <= kind.precision:
        return column  # the engine has no such type
    if kind.bit_width > 64:
        digits = (9,) * kind.precision
        least, most = (pa.scalar(Decimal((sign, digits, -kind.scale)), kind) for sign in (1, 0))
        return _between(column, least, most)
    # Arrow computes with short decimals only if all have their digits: it does with their numbers.
    whole, bound = pa.int32() if kind.bit_width == 32 else pa.int64(), 10**kind.precision - 1
    numbers = _between(column.view(whole), pa.scalar(-bound, whole), pa.scalar(bound, whole))
    return numbers.view(kind)


def _between(column: Any, least: Any, most: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    within = pc.and_(pc.greater_equal(column, least), pc.less_equal(column, most))
    return pc.if_else(within, column, pa.scalar(None, column.type))
