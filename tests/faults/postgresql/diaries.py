"""Provide processes that go on while the database is stopped, and write down what they did."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults import processes
from tests.faults.postgresql import load
from tests.faults.processes import Worker
from tests.faults.reports import Report
from tests.faults.stage import REACH, Ask, analyst, answer, asks, choices, open_home

from penstock.errors import Unavailable

NAMES = ["query-0", "query-1", "query-2"]
READERS = 3

MOST_QUERIES = 300


class Diary:
    """Write down what a process did and what it was refused, a line each, until told to end."""

    def __init__(self, folder: Path, name: str) -> None:
        self.done, self.refused = folder / f"done-{name}", folder / f"refused-{name}"
        self._over = folder / "over"

    def keep(self, act: Callable[[], Any]) -> None:
        """Do one thing after the other, and write down what came of each."""
        while not self._over.exists():
            try:
                done = act()
            except Unavailable as refused:
                self._add(self.refused, refused.code)
            else:
                self._add(self.done, done)

    def end(self) -> None:
        """Tell all who write into this folder."""
        self._over.touch()

    def entries(self) -> list[Any]:
        """Return what was done."""
        if not self.done.exists():
            return []
        return [json.loads(line) for line in self.done.read_text().splitlines()]

    def _add(self, path: Path, entry: object) -> None:
        with path.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def keep_reading(home: Path, number: int, told: Path) -> None:
    """Ask for new levels, and for known ones again."""
    server, report = open_home(home), Report(told)
    random, reader = choices("stops", number), analyst(number)
    ladders = {name: asks(server, name, range(1, REACH)) for name in NAMES}
    known: list[Ask] = []

    def act() -> str:
        if known and random.integers(3) == 0:
            ask = known[int(random.integers(len(known)))]
        else:
            ladder = ladders[NAMES[int(random.integers(len(NAMES)))]]
            ask = ladder[int(random.integers(len(ladder)))]
        got = answer(server, reader, ask)
        report.add(reader, ask, got)
        known.append(ask)
        return got.view.id

    Diary(home.parent, f"reader-{number}").keep(act)


def keep_registering(home: Path) -> None:
    """Register one query after the other, each as often as it takes."""
    server, diary = open_home(home), Diary(home.parent, "registrar")
    # Not without end: each is charged, and the budgets have room for some hundreds.
    diary.keep(lambda: load.enroll(server, f"more-{len(diary.entries()) % MOST_QUERIES}"))


def keep_pushing(home: Path) -> None:
    """Push batch after batch to the stream, and read the totals of each."""
    server = open_home(home)

    def act() -> tuple[int, list[list[float]]]:
        first = load.following(server)
        load.push(server, first)
        return first, load.totals(server, first, first + load.BATCH - 1)

    Diary(home.parent, "pusher").keep(act)


def working_on(home: Path, folder: Path) -> list[tuple[Worker, Diary]]:
    """Run processes that request everything until they are told to end."""
    found = []
    for number in range(READERS):
        told = folder / f"told-{number}"
        worker = processes.start(folder / f"errors-{number}", keep_reading, home, number, told)
        found.append((worker, Diary(folder, f"reader-{number}")))
    for name, target in (("registrar", keep_registering), ("pusher", keep_pushing)):
        worker = processes.start(folder / f"errors-{name}", target, home)
        found.append((worker, Diary(folder, name)))
    return found


def wait_for_more(working: list[tuple[Worker, Diary]], kind: str, count: int) -> None:
    """Wait until each has so many more lines of this kind."""
    paths = [(worker, getattr(diary, kind)) for worker, diary in working]
    before = [path.read_bytes().count(b"\n") if path.exists() else 0 for _, path in paths]
    for (worker, path), known in zip(paths, before, strict=True):
        worker.wait_for_lines(path, known + count)
