"""Say in our own words why Spark failed; what it says itself may quote a cell or an address.

Failures are told apart by Spark's own names of conditions alone, before anything is run.  While
rows are read they are not told apart: that would depend on a cell where a view's own expression
fails for it.
"""

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from penstock.errors import PenstockError, SourceChanged, Unavailable

_GONE: Final = frozenset({"42P01", "42704", "42703", "42K05", "42000", "46103", "42809"})
"""SQLSTATEs of relations, schemas, catalogs and columns that are not there."""

UNREACHABLE: Final = (
    "Spark cannot be reached, or refuses the connection: check it with penstock connection check,"
    " and that the cluster runs and lets this machine in. Nothing was released."
)
REFUSED: Final = (
    "Spark was reached and refuses the connection: check its token, and that its user may ask this"
    " Spark at all. Nothing was released."
)
_STOPPED: Final = (
    "Spark did not read the view to its end: the server or an executor was lost or is short of"
    " memory, the statement was cancelled, or an expression of the view itself fails for a row."
    " Nothing was released. See the cluster's own pages, and give it more memory."
)
_CHANGED: Final = (
    "The dataset's view, or a column of it, is no longer there as it was registered. Nothing was"
    " released. Restore the view, or register the new one as a new version."
)


def keep_quiet() -> None:
    """Keep PySpark from writing what Spark said to this process's log and standard error."""
    logging.getLogger("SQLQueryContextLogger").disabled = True
    for name in ("py4j", "pyspark"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module=r"pyspark\.")


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
        if not running and _is_refused(error):
            raise Unavailable(REFUSED) from None
        state = None if running else error.getSqlState()
        raise _refusal(state, running=running) from None
    except (Py4JError, pa.ArrowException, OSError, *_of_calls()):
        raise _refusal(None, running=running) from None


@contextmanager
def going_on() -> Iterator[None]:
    """Go on when Spark cannot be ended properly because it is lost, or has ended by itself.

    ``AttributeError`` is what PySpark raises where its Java is gone and its parts are ``None``.
    """
    with suppress(PenstockError, AttributeError), own_words(running=True):
        yield


def _of_calls() -> tuple[type[Exception], ...]:
    """Return what Spark Connect's client raises itself where PySpark does not catch it."""
    grpc = sys.modules.get("grpc")
    return () if grpc is None else (grpc.RpcError,)


def _is_refused(error: Any) -> bool:
    """Return True if a server of Spark Connect knows no such token, or forbids the call."""
    status = getattr(error, "getGrpcStatusCode", lambda: None)()
    return status is not None and status.name in {"UNAUTHENTICATED", "PERMISSION_DENIED"}


def _refusal(state: str | None, *, running: bool) -> PenstockError:
    if running:
        return Unavailable(_STOPPED)
    return SourceChanged(_CHANGED) if is_gone(state) else Unavailable(UNREACHABLE)


def is_gone(state: str | None) -> bool:
    """Return True if an SQLSTATE means that a view, or a column of it, is not there."""
    return state in _GONE
