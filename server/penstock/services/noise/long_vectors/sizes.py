"""Say which vectors are long, and how large their chunks are."""

from penstock.persistence.tables.queries import Query

CHUNK = 1 << 20
"""Coordinates of a chunk, and of the longest vector that is a row."""

MOST_AT_ONCE = 10**7
"""Values of the longest vector that is answered in JSON, or shown, as a whole."""


def spans(size: int, chunk: int) -> list[slice]:
    """Return the coordinates of each chunk of a vector of ``size``."""
    return [slice(start, min(start + chunk, size)) for start in range(0, size, chunk)]


def exceeds(query: Query) -> bool:
    """Return True if a vector of the query's dimension is long."""
    return query.dimension > CHUNK
