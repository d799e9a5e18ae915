"""Provide a file of many rows whose people have very different numbers of them.

A person has ``floor(u^(-1/1.1))`` rows for a uniform ``u``: most have one or two, a few
have thousands.  The same key makes the same file.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.randomness import Stream

KEY = bytes(range(32))
TAIL = 1.1
"""The exponent of the tail: with 1 or less the mean would be infinite."""

MOST = 20_000
PLACES = tuple(f"place-{number:02}" for number in range(40))
HIGHEST = 999
_DICTIONARY = 1 << 29


def write_crowd(path: Path, rows: int) -> int:
    """Write a Parquet file of ``person``, ``place`` and ``spent``; how many people it has."""
    import pyarrow.parquet as pq

    table, people = _crowd(rows, 0)
    pq.write_table(table, path)
    return people


def write_crowds(path: Path, rows: int, block: int, repeats: int = 1) -> int:
    """Write one file from blocks of so many rows, each of other people; how many there are.

    A block is written ``repeats`` times, one after the other, so that there are fewer people.  Each
    has one dictionary of its people's names, so that a row takes about 6 bytes of the file.
    """
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None
    people = 0
    try:
        for number, start in enumerate(range(0, rows, block * repeats)):
            table, more = _crowd(min(block, rows - start), number)
            named = table["person"].dictionary_encode().unify_dictionaries()
            table = table.set_column(0, "person", named)
            people += more
            writer = writer or pq.ParquetWriter(
                path, table.schema, store_schema=False, dictionary_pagesize_limit=_DICTIONARY
            )
            for again in range(start, min(start + block * repeats, rows), block):
                writer.write_table(table.slice(0, rows - again), row_group_size=block)
    finally:
        if writer is not None:
            writer.close()
    return people


def _crowd(rows: int, block: int) -> tuple[Any, int]:
    """Return the table of a block, and how many people it has."""
    import pyarrow as pa

    drawn = Stream.from_key(KEY).generator
    owners = _owners(drawn.random(rows), rows)
    order = drawn.permutation(rows)
    name = f"person-{block}-" if block else "person-"
    people = pa.array([f"{name}{number:07}" for number in range(int(owners[-1]) + 1)])
    # Squares, so that some places are much fuller than others.
    places = (drawn.random(rows) ** 2 * len(PLACES)).astype(np.int64)
    table = pa.table(
        {
            "person": people.take(pa.array(owners[order])),
            "place": pa.array(PLACES).take(pa.array(places)),
            "spent": pa.array((drawn.random(rows) * (HIGHEST + 1)).astype(np.int64)),
        }
    )
    return table, len(people)


def _owners(uniform: NDArray[np.float64], rows: int) -> NDArray[np.int64]:
    """Return whose each row is, ascending: shape ``(rows,)``."""
    counts = np.minimum(np.maximum(uniform, 1e-12) ** (-1 / TAIL), MOST).astype(np.int64)
    return np.repeat(np.arange(rows), counts)[:rows]
