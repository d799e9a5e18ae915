"""What one computation may take, and how the operating system is told of it."""

import os
import resource
import sys
from dataclasses import dataclass
from typing import Final

KINDNESS: Final = 10
"""By how much children give way to whoever answers requests (nice(2))."""

PATIENCE: Final = 4.0
"""A computation may last this many times its processor time, on a machine that is busy."""


@dataclass(frozen=True)
class Bounds:
    """``seconds`` of processor time for each computation; ``memory`` in bytes of address space."""

    seconds: float
    memory: int

    @property
    def lasting(self) -> float:
        """How many seconds a computation may last at most, whatever it waits for."""
        return PATIENCE * self.seconds


def bind(memory: int) -> None:
    """Bound this process's memory for good, leave no core behind, and give way to others."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    os.nice(KINDNESS)


def allow(seconds: float) -> None:
    """Let this process use so much more processor time before SIGXCPU ends it.

    The operating system counts whole seconds, rounded up here.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (until, most))
