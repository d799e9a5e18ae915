"""End what the tests started together with the tests, even if these are killed.

Otherwise a server, or a process that sends requests in a loop, would run on forever and
occupy a core.
"""

import ctypes
import signal
import sys
from collections.abc import Callable

PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)


def with_the_parent(number: int = signal.SIGKILL) -> Callable[[], None]:
    """Return what a new process does first, so that it gets ``number`` when its parent ends.

    For ``preexec_fn`` of ``subprocess``; only Linux has it, and elsewhere nothing is done.
    """
    library = ctypes.CDLL(None)

    def ask() -> None:
        if sys.platform == "linux":
            library.prctl(PARENT_DEATH_SIGNAL, number)

    return ask
