"""Turn a batch's cells into those that the engine reads from a local Parquet file, to the letter.

Cells that the engine would refuse become null here, as ``parquet_cells`` says.  Three kinds of
column are read otherwise by Arrow than by the engine: durations, which are whole numbers in the
file, half precision, and types that extend others.
"""

from typing import Any, Final

from penstock.connectors.duckdb import parquet_cells
from penstock.connectors.duckdb.parquet_decimals import within_digits

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
        return within_digits(column)
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
