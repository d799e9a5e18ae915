"""Test where reports on people are composed.

Few releases where they are asked for, many elsewhere.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from sqlmodel import Session
from tests.unit.worlds import World

from penstock.accounting import Entry, PlacedRelease, account_of, composed_epsilon, limit_of
from penstock.mechanisms import Gaussian
from penstock.persistence import Database
from penstock.persistence.tables import Dataset, Tier
from penstock.privacy import Sensitivity
from penstock.services.computations import computations
from penstock.services.computing import Here
from penstock.services.context import Server
from penstock.services.exposure import by_query, compositions, exposure
from penstock.services.exposure.compositions import FEW, Line, composed, composing
from penstock.services.ledger.accounts import TierAccount
from penstock.services.pagination import Window
from penstock.services.schemas.views import PrivacyBudget

PEOPLE = ["pia", "paul", "ines"]
ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))


class Elsewhere(Here):
    """Compute here; note for whom, how many releases, and how many reads were open by then."""

    def __init__(self, reads: Callable[[], int] = lambda: 0) -> None:
        super().__init__()
        self._reads = reads
        self.noted: list[tuple[str, int, int]] = []

    def run(
        self, person: str, patience: float, function: Callable[..., Any], *asked: Any, **named: Any
    ) -> Any:
        assert patience > 0
        assert function is computations.compose
        self.noted.append((person, len(asked[0]), self._reads()))
        return function(*asked, **named)


def releases(number: int) -> frozenset[tuple[PlacedRelease, int]]:
    return frozenset(
        (PlacedRelease(Gaussian.name, Fraction(1, 64), Fraction(100 + at), ONE), 1 + at % 3)
        for at in range(number)
    )


def test_what_is_composed_elsewhere_is_the_same() -> None:
    many = releases(FEW + 1)
    there = Elsewhere()
    found = composing(there, "otto")(many, 1e-6)
    assert there.noted == [("otto", FEW + 1, 0)]
    listed = [release for release, times in many for _ in range(times)]
    assert found == pytest.approx(composed_epsilon(listed, 1e-6), rel=1e-12)


def test_a_report_composes_few_releases_in_all_where_it_is_asked_for() -> None:
    """Else a report on many queries, few releases each, would be as long as on one of many."""
    there = Elsewhere()
    compose = composing(there, "otto")
    half = FEW // 2
    for _ in range(2):
        compose(releases(half), 1e-6)
    assert there.noted == []
    for _ in range(2):
        compose(releases(half), 1e-6)
    assert there.noted == [("otto", half, 0)] * 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda server, who: exposure.of(server, who, PEOPLE),
        lambda server, who: by_query.shared(server, who, PEOPLE, Window()),
    ],
    ids=["exposure", "coalition"],
)
def test_no_connection_waits_for_what_is_composed_elsewhere(
    visits: World, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Server, Any], object]
) -> None:
    for name in PEOPLE:
        visits.ask(name)
    monkeypatch.setattr(compositions, "FEW", 0)
    reads: list[Session] = []
    read = Database.read

    @contextmanager
    def counted(database: Database) -> Iterator[Session]:
        with read(database) as session:
            reads.append(session)
            yield session
            reads.remove(session)

    monkeypatch.setattr(Database, "read", counted)
    there = Elsewhere(lambda: len(reads))
    ask(replace(visits.server, computing=there), visits.person("otto"))
    assert there.noted
    assert {(person, open_by_then) for person, _, open_by_then in there.noted} == {("otto", 0)}


FAILURE = Entry(0, 2**41)
"""Of 2^62 units: 4.8e-7 of a delta of 1e-6."""


def version(number: int) -> Dataset:
    fields: dict[str, Any] = {
        "name": "stays",
        "folded": "stays",
        "version": number,
        "delta": 1e-6,
        "disjoint_units": False,
    }
    return Dataset.model_construct(None, **fields)


def line(number: int, spent: Entry, *, paid: bool) -> Line:
    tier = Tier(
        id=1, name="public", folded="public", rank=1, created_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    account = TierAccount(tier, account_of(1.0, 1e-6), spent, 1)
    return Line(version(number), account, Counter(dict(releases(3))), paid)


def test_the_failures_of_all_versions_are_taken_out_of_the_sum_of_deltas() -> None:
    deltas = []

    def noting(_: object, delta: float) -> float:
        deltas.append(delta)
        return 1.0

    lines = [line(number, FAILURE, paid=False) for number in (1, 2)]
    assert composed(lines, noting) == PrivacyBudget(1.0, 2e-6)
    assert deltas == [pytest.approx(2e-6 - 2 * 2**41 / 2**62, rel=1e-12)]


def test_a_full_account_shows_no_less_than_its_whole_budget() -> None:
    """The bound of a filter is read at what of delta is not for failures."""
    full = limit_of(account_of(1.0, 1e-6))
    shown = composed([line(1, full, paid=True)], lambda *_: 100.0)
    assert shown.epsilon == pytest.approx(1.0, rel=1e-9)
    assert composed([line(1, full, paid=False)], lambda *_: 100.0).epsilon == 100.0
