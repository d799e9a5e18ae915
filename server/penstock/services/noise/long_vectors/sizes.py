"""Say which vectors are long, and how large their chunks are."""

from penstock.persistence.tables.queries import Query

CHUNK = 1 << 20
"""The most coordinates of a chunk."""

LEAST_CHUNK = 1 << 18
"""The coordinates from which on what a chunk costs by itself is little beside its draw."""

LONGEST_ROW = 1 << 19
"""Coordinates of the longest vector that is a row, unless that is more than a chunk.

A database copies a row several times while it is stored and read, which for longer ones costs as
much as their draw; a chunk costs a file and its sync.
"""

SHARED_BY = 4
"""The threads that a vector of few chunks is divided for."""

MOST_LISTED = 1 << 14
"""The most keys of several groupings that a query's row lists; of more, it has their labels.

A list is read for every release: one of a million keys takes fifty times as long as their draw.
"""

MOST_AT_ONCE = 10**7
"""Values of the longest vector that is answered in JSON, or shown, as a whole."""


def spans(size: int, chunk: int) -> list[slice]:
    """Return the coordinates of each chunk of a vector of ``size``."""
    return [slice(start, min(start + chunk, size)) for start in range(0, size, chunk)]


def chunk_of(size: int) -> int:
    """Return how many coordinates a chunk of a vector of ``size`` has, in any version."""
    return CHUNK if size > CHUNK else max(LEAST_CHUNK, -(-size // SHARED_BY))


def longest_row() -> int:
    """Return how many coordinates the longest vector has that is a row."""
    return min(CHUNK, LONGEST_ROW)


def exceeds(query: Query) -> bool:
    """Return True if a vector of the query's dimension is long."""
    return query.dimension > longest_row()
