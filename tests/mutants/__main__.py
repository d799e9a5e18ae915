"""``python -m tests.mutants``: make the product wrong in one place after another."""

import argparse
import sys
from pathlib import Path

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.workspace import ROOT, Workspace


def main() -> None:
    """Print for every mutant whether it was killed, by which test, and what that took."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="beginnings of names")
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
    with Workspace.made(given.tests.resolve()) as workspace:
        if given.whole:
            sys.exit(_whole(workspace, chosen, given.against))
        sys.exit(_mutated(workspace, chosen, given.against))


def _whole(workspace: Workspace, chosen: list[Mutant], against: list[str] | None) -> int:
    tests = against or sorted({test for mutant in chosen for test in mutant.tests})
    ran = workspace.run(tests)
    _say(f"{ran.failed or 'all passed'} ({ran.seconds:.1f} s)")
    return int(ran.failed is not None)


def _mutated(workspace: Workspace, chosen: list[Mutant], against: list[str] | None) -> int:
    """Run the mutants; how many survived."""
    survived = 0
    _say("| mutant | | first test that fails | processor seconds |\n|---|---|---|---|")
    for mutant in chosen:
        with workspace.wrong(mutant):
            ran = workspace.run(against or mutant.tests)
        survived += ran.failed is None
        said = "SURVIVED" if ran.failed is None else "killed"
        _say(f"| {mutant.name} | {said} | {ran.failed or ''} | {ran.seconds:.1f} |")
    _say(f"{len(chosen) - survived} of {len(chosen)} killed")
    return survived


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
