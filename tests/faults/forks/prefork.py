"""Run a server that forks after it was opened and used, as with an application loaded first."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tests.faults.races import traced
from tests.faults.reports import Report
from tests.faults.stage import Ask, analyst, answer, open_home

from penstock.randomness import Stream
from penstock.services.context import Server


@dataclass
class Inherited:
    """Provide streams keyed by entropy that was read once: every fork draws the same noise."""

    secret: bytes
    count: int = 0

    def __call__(self) -> Stream:
        self.count += 1
        return Stream.from_key(hashlib.sha256(self.secret + bytes([self.count])).digest())


def as_opened(server: Server) -> Server:
    """Return the product."""
    return server


def keyed_once(server: Server) -> Server:
    """Return a server that reads its entropy when it is opened, before it forks."""
    return replace(server, randomness=Inherited(os.urandom(32)))


def serve(
    home: Path,
    warm: Ask,
    plans: Sequence[Sequence[Ask]],
    opening: Callable[[Server], Server],
    is_traced: bool,
    barrier: Barrier,
    reports: Sequence[Path],
) -> None:
    """Open a server, use it, fork, and let every process ask for its own plan.

    The first plan is that of the process that forks; the others are its children's.
    """
    server = opening(open_home(home))
    if is_traced:
        traced.trace()
    Report(reports[0]).add(analyst(0), warm, answer(server, analyst(0), warm))
    number = 0
    children: list[int] = []
    for child in range(1, len(plans)):
        process = os.fork()
        if process == 0:
            number, children = child, []
            break
        children.append(process)
    barrier.wait()
    report = Report(reports[number])
    for ask in plans[number]:
        report.add(analyst(number), ask, answer(server, analyst(number), ask))
    for process in children:
        assert os.waitpid(process, 0)[1] == 0
