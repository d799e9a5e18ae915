"""Run ``python -m tests.mutants``: make the product wrong in one place after another."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import SimpleQueue
from pathlib import Path

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.workspace import Ran, Workspace
from tests.support.claims import LISTED, claims
from tests.support.places import ROOT

_own: Workspace
"""That of a process of the pool."""


def main() -> None:
    """Print for every mutant whether it was killed, by which test, and what that took."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="beginnings of names")
    parser.add_argument(
        "--rows", nargs="*", metavar="ROW", help="of these claims, or of all that there are"
    )
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="at once (2)")
    parser.add_argument(
        "--tests", type=Path, default=ROOT, metavar="ROOT", help="the checkout whose tests run"
    )
    parser.add_argument(
        "--against", nargs="*", metavar="TEST", help="tests to run in place of those listed"
    )
    parser.add_argument(
        "--whole", action="store_true", help="run the tests without any fault: they must pass"
    )
    given = parser.parse_args()
    chosen = [one for one in MUTANTS if not given.only or one.name.startswith(tuple(given.only))]
    if given.rows is not None:
        chosen = [one for one in chosen if one.row and (not given.rows or one.row in given.rows)]
    if given.whole:
        with Workspace.made(given.tests.resolve()) as workspace:
            sys.exit(_whole(workspace, chosen, given.against))
    with _pool(given.tests.resolve(), max(given.processes, 1)) as pool:
        ran = pool.map(partial(_run, against=given.against), chosen)
        survived = _told(chosen, ran)
    if given.rows == [] and not given.only:
        _say(_rows(chosen))
    sys.exit(survived)


def _whole(workspace: Workspace, chosen: list[Mutant], against: list[str] | None) -> int:
    tests = against or sorted({test for mutant in chosen for test in mutant.tests})
    ran = workspace.run(tests)
    _say(f"{ran.failed or 'all passed'} ({ran.seconds:.1f} s)")
    return int(ran.failed is not None)


@contextmanager
def _pool(tests: Path, processes: int) -> Iterator[ProcessPoolExecutor]:
    """Yield processes with a copy of the product each, which end with the block."""
    copies: SimpleQueue[Workspace] = SimpleQueue()
    with ExitStack() as stack:
        for _ in range(processes):
            copies.put(stack.enter_context(Workspace.made(tests)))
        yield stack.enter_context(ProcessPoolExecutor(processes, None, _take, (copies,)))


def _take(copies: "SimpleQueue[Workspace]") -> None:
    global _own
    _own = copies.get()


def _run(mutant: Mutant, against: list[str] | None) -> Ran:
    with _own.wrong(mutant):
        return _own.run(against or mutant.tests)


def _told(chosen: Sequence[Mutant], ran: Iterator[Ran]) -> int:
    """Print what became of the mutants, in their order; return how many survived."""
    survived = []
    _say("| row | mutant | | first test that fails | processor seconds |\n|---|---|---|---|---|")
    for mutant, one in zip(chosen, ran, strict=True):
        if one.failed is None:
            survived.append(mutant.name)
        said = "SURVIVED" if one.failed is None else "killed"
        _say(f"| {mutant.row} | {mutant.name} | {said} | {one.failed or ''} | {one.seconds:.1f} |")
    _say(f"{len(chosen) - len(survived)} of {len(chosen)} killed")
    if survived:
        _say(f"survived: {', '.join(survived)}")
    return len(survived)


def _rows(chosen: Sequence[Mutant]) -> str:
    """Say how many claims there are, and which of them have no mutant."""
    rows = [claim.id for claim in claims(LISTED.read_text())]
    without = sorted(set(rows) - {mutant.row for mutant in chosen})
    return f"{len(rows) - len(without)} of {len(rows)} claims have mutants{without or ''}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
