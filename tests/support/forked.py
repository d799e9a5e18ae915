"""Run a function in a child process, which ends whatever the function does."""

import os
import traceback
from collections.abc import Callable


def begun(act: Callable[[], object]) -> int:
    """Fork a child that does ``act`` and ends, with status 1 where ``act`` raised or is false."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if act() else 1
        except BaseException:  # noqa: BLE001 - raised further, it would go on with its parent's tests
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def ended_well(child: int) -> bool:
    """Wait for a child, and say whether its status is 0."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(act: Callable[[], object]) -> bool:
    """Return whether ``act`` is true in a forked process."""
    return ended_well(begun(act))
