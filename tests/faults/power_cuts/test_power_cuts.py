"""Test power cuts: what was answered is there when the power is back, and is what it was.

The product runs under ``strace``, which notes what it writes and syncs and when.  From that
the tests make what a cut in any moment leaves on a disk that keeps no more than it was told
to (``disk.py``), and the product opens that.
"""

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.figures import parts
from tests.faults.power_cuts import recording
from tests.faults.power_cuts.disk import Disk
from tests.faults.power_cuts.power import (
    FULL,
    NORMAL,
    ONE_SLOT,
    UNSYNCED,
    Told,
    complaints,
    furnish_more,
)
from tests.faults.power_cuts.recording import Call, record
from tests.faults.reports import parsed
from tests.faults.stage import choices, urls_beside

from penstock.transparency_log.witness import FILE

CUTS_A_RUN = 50
"""Of one run of requests that is recorded."""
MOST_BROKEN_CUTS = 50
TEARS_A_WRITE = 8

pytestmark = pytest.mark.only("sqlite")

ANSWERS, QUERIES = "answers", "queries"


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    folder = furnish(tmp_path / "home", analysts=2, names=["query-0"])
    furnish_more(folder)
    return folder


@pytest.mark.parametrize("numbers", parts("FAULTS_POWER_CUTS", few=4, many=50, at_once=CUTS_A_RUN))
def test_a_power_cut_at_any_moment_loses_and_changes_nothing(
    home: Path, numbers: range, record_property: Callable[[str, object], None]
) -> None:
    found = list(_after_cuts(home, numbers.start // CUTS_A_RUN, len(numbers)))
    torn = sum(one.is_torn for one in found)
    record_property("torn", torn)
    assert len(found) == len(numbers)
    assert torn >= len(found) // 2
    assert [one.complaints for one in found if one.complaints] == []


def test_with_a_database_that_syncs_less_answers_are_found_to_be_lost(home: Path) -> None:
    found = _after_cuts(home, 0, MOST_BROKEN_CUTS, NORMAL)
    assert any("is lost" in complaint for one in found for complaint in one.complaints)


@pytest.mark.parametrize("mode", [UNSYNCED, ONE_SLOT])
def test_with_a_witness_that_is_stored_with_less_care_answers_are_found_to_be_unwitnessed(
    home: Path, mode: str
) -> None:
    found = _after_cuts(home, 0, MOST_BROKEN_CUTS, mode)
    assert any("witness" in complaint for one in found for complaint in one.complaints)


@dataclass(frozen=True)
class After:
    """Hold what is wrong after a cut, and whether it left a part of a write."""

    complaints: list[str]
    is_torn: bool


def _after_cuts(home: Path, run: int, count: int, mode: str = FULL) -> Iterator[After]:
    """Yield what is wrong after each of ``count`` cuts of one run of requests."""
    if not recording.installed() and os.environ.get("CI") == "true":
        pytest.fail(recording.PACKAGE)
    if not recording.available():
        pytest.skip(recording.PACKAGE if not recording.installed() else recording.FORBIDDEN)
    folder = home.parent
    disk, again = Disk(home), Disk(home)
    names = (home, folder / ANSWERS, folder / QUERIES)
    calls = record(folder / "trace", "tests.faults.power_cuts.power", *names, run, mode)
    if mode in (UNSYNCED, ONE_SLOT):
        cuts = _while_witnessing(calls, count)
    else:
        cuts = _moments(home, again, calls, run, count)
    told: dict[str, list[bytes]] = {ANSWERS: [], QUERIES: []}
    for moment, call in enumerate(calls):
        for cut, torn in enumerate(cuts.get(moment, ())):
            label = (run, moment, cut)
            is_torn = _leave(disk, folder / "cut", label, torn=torn)
            yield After(complaints(folder / "cut", _told(told), *label), is_torn)
        if not disk.do(call) and call.name == "write" and Path(call.place).parent == folder:
            told[Path(call.place).name].append(call.texts[0])


def _moments(
    home: Path, disk: Disk, calls: Sequence[Call], run: int, count: int
) -> Mapping[int, list[bool]]:
    """Return the calls before which the power goes, and whether a write is to be torn there.

    Half of the cuts tear one.  Of the others half fall anywhere, half next to rare calls.
    """
    kinds: dict[tuple[str, str], list[int]] = defaultdict(list)
    tearing = []
    for moment, call in enumerate(calls):
        place = call.place or b" ".join(call.texts).decode(errors="replace")
        changes = not call.name.startswith("open") or "O_CREAT" in call.rest
        if changes and str(home.parent) in place:
            kinds[call.name, Path(place).name].append(moment)
        if disk.can_tear:
            tearing.append(moment)
        disk.do(call)
    choice = choices("cuts", run)
    rare = [kinds[one] for one in sorted(kinds)]
    anywhere = sorted(moment for moments in rare for moment in moments)
    found: dict[int, list[bool]] = defaultdict(list)
    for cut in range(count):
        moments = rare[choice.integers(len(rare))]
        if cut % 2:
            found[int(choice.choice(tearing))].append(True)
        elif cut % 4:
            found[int(choice.choice(anywhere))].append(False)
        else:
            after = int(choice.choice(moments)) + int(choice.integers(2))
            found[min(after, len(calls) - 1)].append(False)
    return found


def _while_witnessing(calls: Sequence[Call], count: int) -> Mapping[int, list[bool]]:
    """Return the calls after each of the last writes to the witness, to tear these in several ways.

    A record has two of the eight sectors of its slot, so that one tear in seven goes through it.
    """
    writes = [
        moment + 1
        for moment, call in enumerate(calls)
        if call.name == "pwrite64" and Path(call.place).name == FILE
    ]
    return {moment: [True] * TEARS_A_WRITE for moment in writes[-count:]}


def _leave(disk: Disk, home: Path, label: tuple[int, ...], *, torn: bool) -> bool:
    """Make a home as the cut leaves it; return whether a write is torn."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(mode=0o700)
    choice = choices("left", *label)
    is_torn = disk.leave(home, choice, torn=torn)
    # An index that nobody synced may be there as well, with anything in it.
    (home / "database" / "penstock.db-shm").write_bytes(choice.bytes(4096))
    urls_beside(home).write_text("{}")
    return is_torn


def _told(told: dict[str, list[bytes]]) -> Told:
    names = b"".join(told[QUERIES]).split(b"\n")
    return Told(
        parsed(b"".join(told[ANSWERS])),
        [json.loads(name) for name in names if name],
    )
