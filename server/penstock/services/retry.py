"""Running a use case anew where the database dropped it in the middle.

Only ``Interrupted`` is met so: a lost connection, a deadlock, a serialization failure.
Everything else, and the last attempt, goes to the caller, who may always simply ask
again.  There is no waiting in between: it is the caller who knows how long they can.
"""

from collections.abc import Callable
from typing import TypeVar

from penstock.errors import Interrupted

ATTEMPTS = 3

Result = TypeVar("Result")


def again(use_case: Callable[[], Result]) -> Result:
    """Run ``use_case``, up to ``ATTEMPTS`` times.

    It must be one that may be run anew whatever became of the run before, also where
    that was lost at its commit: one that only reads, or one that begins by looking for
    what may be stored already.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return use_case()
        except Interrupted:
            continue
    return use_case()
