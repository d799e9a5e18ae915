"""Test a database that is put back: each level told before is answered identically or refused."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.databases.homes import Homes
from tests.faults import processes, reports
from tests.faults.figures import parts
from tests.faults.kills.tasks import keep_asking
from tests.faults.reports import Reported
from tests.faults.stage import Ask, analyst, asks, choices, opened, some_rungs, vector_query
from tests.faults.tampering.rolling_back import Asked, asked, copied, outcomes, put_back, vectors

from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.queries.registration import register
from penstock.services.verification.verification import verify
from penstock.transparency_log.sights import NOTHING

pytestmark = pytest.mark.each_database

NAMES = ["query-0", "query-1", "query-2"]
AT_ONCE = 10
MOST_ANSWERS = 12
ASKED_AGAIN = 15
FRESH = 4
"""Levels that nobody was ever given, asked for after every rollback."""


@dataclass(frozen=True)
class Round:
    """Hold a copy of the database, and what readers were told: before it was begun, and in all."""

    copy: Path
    kept: Sequence[Reported]
    told: Sequence[Reported]

    def questions(self, server: Server, *label: object) -> Asked:
        """Return what was told before, and what nobody was told, shuffled; each by both readers."""
        choice = choices("questions", *label)
        old = [self.told[place] for place in choice.permutation(len(self.told))[:ASKED_AGAIN]]
        wanted = [(analyst(reader), one.ask) for one in old for reader in range(2)]
        wanted += [(one.analyst, one.ask) for one in self.told[-ASKED_AGAIN:]]
        wanted += [
            (analyst(0), ask) for ask in asks(server, "query-0", some_rungs(FRESH, "fresh", *label))
        ]
        return [wanted[place] for place in choice.permutation(len(wanted))]


def _round(home: Path, folder: Path, number: int, before: Sequence[Reported]) -> Round:
    """Let readers ask, copy the database meanwhile, and let them ask on."""
    choice = choices("round", number)
    told = folder / f"told-{number}"
    worker = processes.start(folder / "errors", keep_asking, home, number, len(NAMES), told)
    lines = 1 + int(choice.integers(MOST_ANSWERS))
    worker.wait_for_lines(told, lines)
    kept = [*before, *reports.read(told)]
    copy = copied(home, folder / f"copy-{number}")
    so_far = told.read_bytes().count(b"\n")
    worker.wait_for_lines(told, so_far + 1 + int(choice.integers(MOST_ANSWERS)))
    worker.kill()
    assert worker.was_killed()
    with opened(home) as server:
        register(server, OPERATOR, vector_query(f"late-{number}", "gaussian"))
    return Round(copy, kept, [*before, *reports.read(told)])


def _spent(server: Server) -> list[float]:
    return [tier.spent_share for tier in budgets.show(server, OPERATOR, "sites").tiers]


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    return furnish(tmp_path / "home", analysts=2, names=NAMES)


@pytest.mark.parametrize("numbers", parts("FAULTS_ROLLBACKS", few=2, many=20, at_once=AT_ONCE))
def test_what_is_put_back_answers_identically_or_not_at_all(
    home: Path, tmp_path: Path, homes: Homes, numbers: Sequence[int]
) -> None:
    told: Sequence[Reported] = []
    for number in numbers:
        here = _round(home, tmp_path, number, told)
        told, first = here.told, vectors(here.told)
        with opened(home) as server:
            spent = _spent(server)
        older = tmp_path / "older"
        put_back(home, here.copy, older, homes)
        with opened(older) as server:
            questions = here.questions(server, number)
            found = outcomes(server, questions, first)
            assert found.keys() <= {"same", "suspended"}, found
            assert found["suspended"] >= FRESH
            promised = asked(here.kept[-ASKED_AGAIN:])
            assert outcomes(server, promised, first) == {"same": len(promised)}
            restores.acknowledge(server, OPERATOR)
            found = outcomes(server, questions, first)
            assert found.keys() <= {"same", "refused"}, found
            assert outcomes(server, promised, first) == {"same": len(promised)}
            assert all(now >= then for now, then in zip(_spent(server), spent, strict=True))
            assert verify(server, OPERATOR).problems == []
            register(server, OPERATOR, vector_query("fresh", "laplace"))
            assert outcomes(server, _of_fresh(server), first) == {"new": FRESH}
        shutil.rmtree(older)


def test_without_a_witness_what_is_put_back_diverges(
    home: Path, tmp_path: Path, homes: Homes
) -> None:
    older = tmp_path / "older"
    here = _round(home, tmp_path, 0, [])
    put_back(home, here.copy, older, homes)
    with opened(older) as server:
        server.sequencer.witness.start_over(NOTHING)
        later = asked(here.told[len(here.kept) :])
        assert outcomes(server, later, vectors(here.told))["divergent"] > 0


def _of_fresh(server: Server) -> Asked:
    wanted: Sequence[Ask] = asks(server, "fresh", some_rungs(FRESH, "fresh"))
    return [(analyst(1), ask) for ask in wanted]
