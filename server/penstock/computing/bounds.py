"""Define the bounds of one computation, and set them in the operating system."""

import os
import resource
import sys
from dataclasses import dataclass
from typing import Final

KINDNESS: Final = 10
"""By how much children yield to the threads that answer requests (nice(2))."""

PATIENCE: Final = 4.0
"""The most time that a computation may last, in multiples of its processor time.

A busy machine needs more than one.
"""


@dataclass(frozen=True)
class Bounds:
    """Hold ``seconds`` of processor time for each computation, and ``memory`` in bytes.

    The memory is that of the address space.
    """

    seconds: float
    memory: int

    @property
    def lasting(self) -> float:
        """Return how many seconds a computation may last at most, whatever it waits for."""
        return PATIENCE * self.seconds


def bind(memory: int) -> None:
    """Bound this process's memory for good, write no core dump, and yield to other processes."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.nice(KINDNESS)


def allow(seconds: float) -> None:
    """Allow this process that much more processor time before SIGXCPU ends it.

    The operating system counts whole seconds, rounded up here.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (until, most))
