"""Say in our own words why Spark failed; what it says itself may quote a cell or an address.

Failures are told apart by Spark's own names of conditions alone, before anything is run.  While
rows are read they are not told apart: that would depend on a cell where a view's own expression
fails for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from penstock.errors import PenstockError, SourceChanged, Unavailable

_GONE: Final = frozenset({"42P01", "42704", "42703", "42K05", "42000", "46103", "42809"})
"""SQLSTATEs of relations, schemas, catalogs and columns that are not there."""

UNREACHABLE: Final = (
    "Spark cannot be reached, or refuses the connection: check it with penstock connection check,"
    " and that the cluster runs and lets this machine in. Nothing was released."
)
_STOPPED: Final = (
    "Spark did not read the view to its end: an executor was lost or is short of memory, the"
    " statement was cancelled, or an expression of the view itself fails for a row. Nothing was"
    " released. See the cluster's own pages, and give it more memory."
)
_CHANGED: Final = (
    "The dataset's view, or a column of it, is no longer there as it was registered. Nothing was"
    " released. Restore the view, or register the new one as a new version."
)


@contextmanager
def own_words(*, running: bool) -> Iterator[None]:
    """Replace what Spark raises by an error of ours.

    ``running`` means that rows are read; otherwise Spark only analyzes names and types.
    """
    import pyarrow as pa
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        state = None if running else error.getSqlState()
        raise _refusal(state, running=running) from None
    except (Py4JError, pa.ArrowException, OSError):
        raise _refusal(None, running=running) from None


def _refusal(state: str | None, *, running: bool) -> PenstockError:
    if running:
        return Unavailable(_STOPPED)
    return SourceChanged(_CHANGED) if is_gone(state) else Unavailable(UNREACHABLE)


def is_gone(state: str | None) -> bool:
    """Return True if an SQLSTATE means that a view, or a column of it, is not there."""
    return state in _GONE
