"""Test budgets as a chart and its table: as they are, and with one query more."""

from dataclasses import replace

import pytest
from tests.web.service_views import AT, budget, error, level, tier_budget

from penstock.errors import InvalidInput
from penstock.services.previews.level_preview import (
    MovedLevelsView,
    MovedLevelView,
    SeenLevelView,
)
from penstock.services.schemas.datasets import AllowanceSpendingView, AllowanceView
from penstock.services.schemas.previews import ChargeView
from penstock.web.presenters.budget_charts import EARLIER, allowed, moved, shown, with_query

BUDGET = budget(
    tier_budget("public", 1.0, visits=0.25), tier_budget("internal", 4.0, visits=0.5, stays=0.25)
)


def test_the_table_has_what_each_query_took_and_what_is_left() -> None:
    page_budget = shown(BUDGET, 3)
    assert page_budget.budget is BUDGET
    assert page_budget.picture.table.head == ("query", "internal (ε 4)", "public (ε 1)")
    assert page_budget.picture.table.rows == (
        ("visits", "50%", "25%"),
        ("stays", "25%", "0%"),
        ("left", "25%", "75%"),
    )
    assert 'id="spent3-' in page_budget.picture.drawn


def test_what_is_spent_on_what_a_reader_does_not_see_is_the_rest() -> None:
    hidden = budget(replace(BUDGET.tiers[0], spent_share=0.375))
    assert shown(hidden, 0).picture.table.rows[-2:] == (("the rest", "12%"), ("left", "62%"))


def test_one_query_more_takes_its_share_of_those_tiers_that_see_it() -> None:
    rows = with_query(BUDGET, "beds", {"internal": 0.125}).table.rows
    assert ("beds", "12%", "0%") in rows or ("beds", "12.5%", "0%") in rows
    assert rows[-1][2] == "75%"


def test_more_than_the_whole_budget_is_refused_and_not_drawn() -> None:
    with pytest.raises(InvalidInput, match="internal"):
        with_query(BUDGET, "beds", {"internal": 0.5})


def test_moved_levels_cost_only_tiers_that_are_charged() -> None:
    seen = SeenLevelView(*level(0.5), error(4.0))
    charge = ChargeView(8.0, 0.1, 0.0, 0.25)
    levels = MovedLevelsView(
        query="visits",
        dataset="sites",
        stream=False,
        lossless=True,
        tiers=[
            MovedLevelView("public", [], seen, None, None, None),
            MovedLevelView("internal", [], seen, seen, charge, None),
        ],
        former=[],
        reads=False,
        pushed=False,
        refusal=None,
        changes=True,
        basis="",
    )
    table = moved(BUDGET, levels).table
    assert table.rows[-1] == ("left", "0%", "75%")
    (row,) = [row for row in table.rows if row[0].startswith("visits, ")]
    assert row[1:] == ("25%", "0%")


def allowance(*shares: float) -> AllowanceView:
    spent = sum(shares)
    queries = [AllowanceSpendingView(f"q{place}", "ann", one) for place, one in enumerate(shares)]
    left = max(0.0, 1 - spent)
    return AllowanceView(
        *("sites", 1, "internal", 0.5, 1e-6, None, spent, left, queries, AT, "root", [])
    )


def test_an_allowance_is_drawn_by_its_queries() -> None:
    drawn = allowed("sites", [allowance(0.5, 0.25)], "own")
    assert drawn.table.head == ("query", "internal (ε 0.5)")
    assert drawn.table.rows == (("q0", "50%"), ("q1", "25%"), ("left", "25%"))
    assert "Each tier's allowance by query" in drawn.drawn


def test_one_that_was_made_smaller_than_what_is_spent_is_drawn_as_full() -> None:
    table = allowed("sites", [allowance(0.75, 0.75)], "own").table
    assert table.rows == ((EARLIER, "100%"), ("left", "0%"))


def test_a_budget_page_has_the_allowances_in_it() -> None:
    given = budget(
        replace(BUDGET.tiers[0], allowance=None), replace(BUDGET.tiers[1], allowance=allowance(0.5))
    )
    page_budget = shown(given, 2)
    assert [view.tier for view in page_budget.allowances] == ["internal"]
    assert page_budget.allowed is not None
    assert 'id="allowed2-' in page_budget.allowed.drawn
    assert shown(BUDGET, 2).allowed is None
