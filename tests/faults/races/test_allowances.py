"""Test analysts who register at once: as many get through as fit, and the others are told why."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.faults import processes
from tests.faults.figures import amounts
from tests.faults.races.registering import (
    Register,
    build,
    compete,
    guarded,
    reading_before,
)
from tests.faults.races.unguarded import drop_uniques
from tests.faults.rules import broken_rules
from tests.faults.stage import choices, opened

from penstock.persistence.tables import Allowance, AllowanceCharge, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.verification.verification import verify

FITTING = 3
ALLOWANCE = 0.5
"""It has room for three queries of 0.25 and not for four: Gaussian losses add up as squares."""
UNIQUE = "UNIQUE (allowance_id, seq)"

EACH_THEIRS = [[number] for number in range(FITTING + 1)]
"""The orders of analysts who each want one statistic, and no two the same."""

Heard = tuple[int, str, dict[str, Any]]
Prepare = Callable[[int], Path]


@pytest.fixture
def prepare(tmp_path: Path, template: Callable[..., Path]) -> Prepare:
    """Return ``prepare(count)``, the home of ``count`` analysts with an allowance."""

    def copy(count: int) -> Path:
        name = f"allowance-{count}"
        return template(tmp_path / "home", name, lambda place: build(place, count, ALLOWANCE))

    return copy


def run(home: Path, orders: list[list[int]], register: Register) -> list[Heard]:
    """Let analysts request statistics at once, each in their order; return what all heard."""
    folder, barrier = home.parent, processes.barrier(len(orders))
    processes.finish(
        [
            processes.start(
                *(folder / f"errors-{number}", compete, home, number, order),
                *(register, barrier, folder / f"told-{number}"),
            )
            for number, order in enumerate(orders)
        ]
    )
    told = [json.loads((folder / f"told-{number}").read_text()) for number in range(len(orders))]
    return [tuple(heard) for each in told for heard in each]


def spending(home: Path) -> tuple[Allowance, list[AllowanceCharge], list[Query]]:
    with opened(home) as server, server.database.read() as session:
        return (
            session.exec(select(Allowance)).one(),
            list(session.exec(select(AllowanceCharge)).all()),
            list(session.exec(select(Query)).all()),
        )


@pytest.mark.each_database
@pytest.mark.parametrize("count", amounts("FAULTS_RACE_PROCESSES", few=4, many=16))
def test_as_many_get_through_as_fit_and_all_others_are_told_exactly(
    prepare: Prepare, count: int
) -> None:
    home, statistics = prepare(count), FITTING + 2
    orders = [
        [int(each) for each in choices("register", number).permutation(statistics)]
        for number in range(count)
    ]
    heard = run(home, orders, guarded)
    outcomes = [
        Counter(code for one, code, _ in heard if one == statistic)
        for statistic in range(statistics)
    ]
    # Equal statistics are one, and no refusal came before what was then let through.
    registered = {"done": 1, "CONFLICT": count - 1}
    assert outcomes.count(Counter(registered)) == FITTING
    assert outcomes.count(Counter({"BUDGET_EXHAUSTED": count})) == statistics - FITTING

    allowance, charges, queries = spending(home)
    assert len(charges) == len(queries) == FITTING
    totals = sorted(charge.loss_total for charge in charges)
    assert totals[-1] == sum(charge.loss for charge in charges) <= allowance.limit_loss
    names = {query.readable for query in queries}
    with opened(home) as server:
        (view,) = allowances.listing(server, OPERATOR, "stays")
        assert broken_rules(server) == []
        assert verify(server, OPERATOR).problems == []
    refusals = [data for _, code, data in heard if code == "BUDGET_EXHAUSTED"]
    for data in refusals:
        assert data["allowance"] == data["tier"] == "partner"
        assert data["remaining_share"] == view.remaining_share < data["needed_share"]
        assert {one["query"] for one in data["spent_by"]} == names
    seen = {data["query"] for _, code, data in heard if code == "CONFLICT"}
    assert seen == {name.removesuffix("@partner") for name in names}


@pytest.mark.mainly_postgresql
def test_the_unique_alone_lets_one_of_those_through_who_read_before_the_lock(
    prepare: Prepare,
) -> None:
    home = prepare(len(EACH_THEIRS))
    codes = Counter(code for _, code, _ in run(home, EACH_THEIRS, reading_before))
    assert codes == {"done": 1, "refused by a constraint": FITTING}
    assert len(spending(home)[1]) == 1


@pytest.mark.mainly_postgresql
def test_without_the_unique_those_who_read_before_the_lock_overdraw_it_and_the_log_tells(
    prepare: Prepare,
) -> None:
    home = prepare(len(EACH_THEIRS))
    drop_uniques(home, UNIQUE, table="allowance_charge")
    codes = Counter(code for _, code, _ in run(home, EACH_THEIRS, reading_before))
    assert codes == {"done": FITTING + 1}
    allowance, charges, _ = spending(home)
    assert sum(charge.loss for charge in charges) > allowance.limit_loss
    with opened(home) as server:
        problems = verify(server, OPERATOR).problems
    assert any("took of its allowance does not add up" in problem for problem in problems)
