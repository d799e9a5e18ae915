"""Test exact values that are sent again: compared for a raise alone, on record, and seldom."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import BudgetExhausted, Conflict, IntegrityViolation, InvalidInput
from penstock.persistence.tables import Charge, Leaf, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import level_changes, mismatches, queries
from penstock.services.schemas.queries import LevelsChange
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, streams
from penstock.services.verification import verification

VALUES = [120, 7, 0]
OTHERS = [120, 7, 1]
FINER = {"internal": {"epsilon": 0.8}}


def change(world: World, values: list[int] | None, levels: dict[str, Any]) -> None:
    wanted = LevelsChange.model_validate({"levels": levels, "values": values})
    queries.change(world.server, world.person("ada"), "visits", wanted)


def refused(world: World, values: list[int], levels: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises((InvalidInput, Conflict, BudgetExhausted)) as caught:
        change(world, values, levels)
    return type(caught.value).__name__, caught.value.detail


def rows(world: World) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int | None]:
    """Return the charges, the leaves and the query's count of mismatches."""
    with world.server.database.read() as session:
        charges = [row.model_dump() for row in session.exec(select(Charge)).all()]
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
        return (
            charges,
            leaves,
            session.exec(select(Query).order_by(col(Query.id))).all()[0].mismatches,
        )


def opened(world: World, bound: float) -> float:
    """Return a stream of three elements, and how far from 0 its total may get."""
    wanted = {
        "name": "hits",
        "dataset": "sites",
        "mechanism": "gaussian",
        "length": 10_000,
        "max_steps_per_unit": 1,
        "bound": bound,
        "levels": {"public": {"epsilon": 0.1}},
    }
    made = streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(wanted))
    pushed(world, 1, [200, 30, 7])
    return made.largest_total


def pushed(world: World, first: int, values: Sequence[float]) -> None:
    sent = ElementsRequest.model_validate({"from": first, "values": values})
    stream_elements.push(world.server, OPERATOR, "hits", sent)


def test_no_number_of_refusals_finds_the_total_of_a_stream(visits: World) -> None:
    bound = 2.0**40
    most = opened(visits, bound)
    full = int(most // bound)
    pushed(visits, 4, [bound] * (full - 1))
    place, before = 4 + full - 1, rows(visits)[1]
    for number in range(1, mismatches.MOST + 1):
        with pytest.raises(InvalidInput, match=f"{number} of {mismatches.MOST}"):
            pushed(visits, place, [bound, bound - number])
    for values in ([bound, bound], [0], [bound / 2]):  # whatever it would come to
        with pytest.raises(Conflict, match="takes no more elements"):
            pushed(visits, place, values)
    told = rows(visits)[1][len(before) :]
    assert [(leaf["query"], leaf["mismatches"]) for leaf in told] == [
        ("hits", number) for number in range(1, mismatches.MOST + 1)
    ]
    # The nonces are random, and hold any three digits at times.
    shown = [{name: leaf[name] for name in leaf if name != "nonce"} for leaf in told]
    assert "237" not in json.dumps(shown), "nothing of the total"
    assert verification.verify(visits.server, OPERATOR).problems == []


@pytest.mark.parametrize(
    "levels",
    [
        {"internal": {"epsilon": 0.3}},
        {"internal": {"epsilon": 0.5}},
        {"public": {"epsilon": 0.15}},
    ],
)
def test_values_are_not_compared_where_nothing_is_drawn_from_them(
    visits: World, levels: dict[str, Any]
) -> None:
    before = rows(visits)
    answers = {refused(visits, values, levels) for values in (VALUES, OTHERS)}
    assert len(answers) == 1
    assert "leave values out" in answers.pop()[1]
    assert rows(visits) == before


def test_a_level_that_the_budget_does_not_allow_compares_nothing(visits: World) -> None:
    visits.push("heavy", levels={"internal": {"epsilon": 3}})
    answers = {refused(visits, values, {"internal": {"epsilon": 3}}) for values in (VALUES, OTHERS)}
    assert [kind for kind, _ in answers] == ["BudgetExhausted"]


def test_every_mismatch_is_a_leaf_that_holds_no_values_and_the_last_ends_it(visits: World) -> None:
    before = rows(visits)
    for number in range(1, mismatches.MOST + 1):
        kind, words = refused(visits, OTHERS, FINER)
        assert (kind, f"mismatch {number} of {mismatches.MOST}" in words) == ("Conflict", True)
        charges, leaves, count = rows(visits)
        assert (charges, count) == (before[0], number)
        told = leaves[-1]
        assert (told["kind"], told["actor"], told["query"]) == ("query", "ada", "visits")
        assert (told["mismatches"], told["actor_exposure"]) == (number, {})
        assert "values" not in told
    full = rows(visits)
    # The right ones are answered like all others from now on, by every worker.
    assert refused(visits, VALUES, FINER) == refused(visits, OTHERS, FINER)
    assert rows(visits) == full
    assert verification.verify(visits.server, OPERATOR).problems == []


def test_the_right_values_raise_after_a_mismatch_and_do_not_reset_the_count(visits: World) -> None:
    refused(visits, OTHERS, FINER)
    change(visits, VALUES, FINER)
    assert rows(visits)[2] == 1
    assert "mismatch 2 of" in refused(visits, OTHERS, {"internal": {"epsilon": 0.9}})[1]


def test_a_count_that_was_set_back_is_refused_or_found(visits: World) -> None:
    refused(visits, OTHERS, FINER)
    with visits.server.database.write() as session:
        session.exec(select(Query)).one().mismatches = None
    problems = verification.verify(visits.server, OPERATOR).problems
    assert any("counts of refused exact values" in problem for problem in problems)
    with visits.server.database.write() as session:
        session.connection().exec_driver_sql("UPDATE query SET mismatches = 2")
    with pytest.raises(IntegrityViolation):
        change(visits, VALUES, FINER)


def test_values_are_not_compared_where_another_raise_was_quicker(
    visits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = level_changes._answer

    def meanwhile(*asked: Any) -> Any:
        monkeypatch.setattr(level_changes, "_answer", plain)
        change(visits, VALUES, FINER)
        return plain(*asked)

    monkeypatch.setattr(level_changes, "_answer", meanwhile)
    assert "leave values out" in refused(visits, OTHERS, FINER)[1]
    assert rows(visits)[2] is None
