"""Run the model in a process of its own, which is ended when it has answered.

The model's library takes seconds to start and hundreds of megabytes: neither is kept for requests
that are rare.  One process of a server draws one answer at a time.
"""

import importlib.util
import threading
from typing import Final

from penstock.computing.bounds import Bounds
from penstock.computing.frames import Document, TooLong
from penstock.computing.process import Child, Died, Overtime
from penstock.errors import Busy, InvalidInput, Unavailable, raised_again
from penstock.services.synthetic_rows import model

BOUNDS: Final = Bounds(seconds=120.0, memory=8 << 30)
"""Of address space: the library reserves far more than it uses."""

_LESS: Final = " Nothing was drawn. Ask for fewer rows, or for a release of a smaller table."

_turn = threading.BoundedSemaphore(1)


def is_installed() -> bool:
    """Return True if the library that draws rows is there."""
    return importlib.util.find_spec("mbi") is not None


def drawn(document: Document) -> Document:
    """Return what ``model.rows`` returns.

    Raises what it raises, ``Unavailable`` without its library and if the process ends, ``Busy``
    while another answer is drawn, and ``InvalidInput`` for one that takes too much time or memory.
    """
    if not is_installed():
        raise Unavailable(
            "Synthetic rows are drawn by mbi, which is not installed here. Ask the operator to run"
            " `pip install 'penstock[synthetic]'`."
        )
    if not _turn.acquire(blocking=False):
        raise Busy("Rows are being drawn for another request; try again in a moment.")
    try:
        return _answered(document)
    finally:
        _turn.release()


def _answered(document: Document) -> Document:
    try:
        child = Child(model.__name__, BOUNDS)
        try:
            reply = child.ask("", "rows", document)
        finally:
            child.kill()
    except TooLong as problem:
        raise InvalidInput(f"This is too long to be drawn: {problem}.{_LESS}") from problem
    except Overtime as problem:
        raise InvalidInput(
            f"Drawing the rows takes more than {BOUNDS.seconds:g} processor seconds.{_LESS}"
        ) from problem
    except (Died, OSError) as problem:
        raise Unavailable(
            f"The process that draws rows ended before it was done.{_LESS}"
        ) from problem
    if "memory" in reply:
        raise InvalidInput(f"Drawing the rows takes more memory than it may.{_LESS}")
    if "problem" in reply:
        raise raised_again(reply["problem"])
    return reply["answer"]
