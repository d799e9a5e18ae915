"""Provide many processes that ask one home for the same releases at the same time."""

from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from pathlib import Path

from tests.faults import processes, reports
from tests.faults.findings import Findings, examine
from tests.faults.races import traced
from tests.faults.races.unguarded import Variant, drop_uniques
from tests.faults.stage import Ask, analyst, asks, open_home, opened, shuffled, some_rungs

from penstock.services.access.principals import acting_as


@dataclass(frozen=True)
class Race:
    """Run ``processes`` analysts, a process each, who all request ``levels`` levels of each query.

    ``repeats`` is how often each then asks for all of them again.
    """

    processes: int
    queries: int
    levels: int
    repeats: int = 0

    @property
    def names(self) -> list[str]:
        """Return the names of its queries."""
        return [f"query-{number}" for number in range(self.queries)]

    @property
    def answers(self) -> int:
        """Return how many answers are handed out in all."""
        return self.processes * self.queries * self.levels * (1 + self.repeats)


@dataclass(frozen=True)
class Outcome:
    """Count the answers that the readers of a race got, and hold what is wrong with them."""

    answers: int
    findings: Findings


def run(home: Path, race: Race, variant: Variant, *, without: Sequence[str] = ()) -> Outcome:
    """Hold a race in a home that has its readers and queries, ``without`` some constraints."""
    folder, names = home.parent, race.names
    if without:
        drop_uniques(home, *without)
    with opened(home) as server:
        wanted = [
            ask
            for name in names
            for ask in asks(server, name, some_rungs(race.levels, "race", name))
        ]
    barrier = processes.barrier(race.processes)
    workers = [
        processes.start(
            folder / f"errors-{number}",
            _compete,
            home,
            number,
            [shuffled(wanted, "order", number, turn) for turn in range(1 + race.repeats)],
            variant,
            barrier,
            folder / f"report-{number}",
        )
        for number in range(race.processes)
    ]
    processes.finish(workers)
    paths = [folder / f"report-{number}" for number in range(race.processes)]
    answers = [told for path in paths for told in reports.read(path)]
    with opened(home) as server:
        return Outcome(len(answers), examine(server, answers, is_traced=True))


def _compete(
    home: Path,
    number: int,
    turns: Sequence[Sequence[Ask]],
    variant: Variant,
    barrier: Barrier,
    told: Path,
) -> None:
    server = open_home(home)
    traced.trace()
    report = reports.Report(told)
    principal = acting_as(server, analyst(number))
    barrier.wait()
    for turn in turns:
        for ask in turn:
            report.add(principal.name, ask, variant(server, principal, ask, barrier.wait))
