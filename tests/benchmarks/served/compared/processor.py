"""Read the processor time of a server: of its first process, and of all that descend from it."""

import os
import time
from pathlib import Path

_SCHEDULED = 2
"""Which clock of a process: the time for which the scheduler ran it (CPUCLOCK_SCHED)."""

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
"""What ``/proc`` counts in."""

_IDLE = {3, 4}
"""Which numbers in the first line of ``/proc/stat`` are no work: idle, and waiting for disks."""

_COUNTED = 8
"""How many count: what guests use, which comes after, is in the others."""


def processor_seconds(*processes: int) -> float:
    """Return user and system time of the processes and their descendants, also of ended ones.

    ``/proc/PID/stat`` counts in hundredths of a second; for what still runs, each process's clock,
    which is the same sum in nanoseconds, is read instead.
    """
    return sum(
        _running(process) + _ended(process)
        for first in processes
        for process in (first, *_descendants(first))
    )


def busy_seconds() -> float:
    """Return the time for which this machine's processors worked, whoever for."""
    with Path("/proc/stat").open() as file:
        ticks = [int(number) for number in file.readline().split()[1:][:_COUNTED]]
    return sum(tick for place, tick in enumerate(ticks) if place not in _IDLE) / _TICKS_PER_SECOND


def _running(process: int) -> float:
    try:
        # clock_getcpuclockid(3), which Python does not have
        return time.clock_gettime((~process << 3) | _SCHEDULED)
    except OSError:  # it has just ended
        return 0.0


def _ended(process: int) -> float:
    """Return the time of children that were waited for, and of theirs."""
    try:
        # After the name in parentheses, which may have spaces: state, parent and others.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    user, system = fields[13:15]
    return (int(user) + int(system)) / _TICKS_PER_SECOND


def _descendants(process: int) -> list[int]:
    children = [
        int(child) for task in _tasks(process) for child in _read(task / "children").split()
    ]
    return children + [further for child in children for further in _descendants(child)]


def _tasks(process: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return []


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
