"""Turn a batch's cells into those that the engine reads from a local Parquet file, to the letter.

Cells that the engine would refuse become null here, as ``parquet_cells`` says.  Three kinds of
column are read otherwise by Arrow than by the engine: durations, which are whole numbers in the
file, half precision, and types that extend others.
"""

from decimal import Decimal
from typing import Any, Final

from penstock.connectors.duckdb import parquet_cells

_KNOWN_TO_THE_ENGINE: Final = "arrow.uuid"


def cells(column: Any) -> Any:
    """Return a column of a batch in the type in which the engine is given it."""
    import pyarrow as pa
    import pyarrow.types as of

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name != _KNOWN_TO_THE_ENGINE:
        return cells(column.storage)
    if of.is_dictionary(kind):
        return cells(column.dictionary_decode())
    if of.is_duration(kind):
        return column.view(pa.int64())
    if of.is_float16(kind):
        return column.cast(pa.float32())
    if of.is_binary(kind) or of.is_binary_view(kind) or of.is_fixed_size_binary(kind):
        return column.cast(pa.large_binary())
    if of.is_decimal(kind):
        return _within_digits(column)
    return parquet_cells.repaired(column) if parquet_cells.repairable(kind) else column


def engine_type(kind: Any) -> Any:
    """Return the Arrow type in which the engine is given a column of this type."""
    import pyarrow as pa

    return cells(pa.array([], kind)).type


def is_exact(kind: Any) -> bool:
    """Return False for decimals that the engine has no type for, and would round."""
    import pyarrow.types as of

    if of.is_dictionary(kind):
        return is_exact(kind.value_type)
    return not of.is_decimal256(kind)


def _within_digits(column: Any) -> Any:
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
