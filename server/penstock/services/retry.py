"""Run a use case again if the database interrupted it.

Only ``Interrupted`` is retried: a lost connection, a deadlock, a serialization failure.  Any other
error, and that of the last attempt, goes to the caller, who may always repeat the request.  There
is no wait in between: only the caller knows how long they can wait.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from penstock.errors import Interrupted

ATTEMPTS = 3

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def retried(use_case: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return ``use_case`` as a function that runs it up to ``ATTEMPTS`` times.

    The use case must be safe to run again whatever happened to the earlier run, also if that was
    interrupted at its commit: it only reads, or it begins by looking for what may be stored
    already.
    """

    @wraps(use_case)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return again(lambda: use_case(*args, **kwargs))

    return run


def again(use_case: Callable[[], Result]) -> Result:
    """Run a use case as ``retried`` does."""
    for _ in range(ATTEMPTS - 1):
        try:
            return use_case()
        except Interrupted:
            continue
    return use_case()
