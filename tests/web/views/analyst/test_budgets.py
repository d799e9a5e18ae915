"""Test the page of budgets: one chart a dataset, of the tiers that the caller may see."""

import pytest
from tests.web.world import Open

from penstock.web.views.analyst import budgets


def test_an_analyst_sees_the_budget_of_their_own_tier_and_an_auditor_all(browse: Open) -> None:
    ann, olga = (browse(name).get("/budgets").text for name in ("ann", "olga"))
    assert "internal (ε 4)" in olga
    assert "public (ε 1)" in olga
    assert "public (ε 1)" in ann
    assert "internal (ε" not in ann


def test_a_dataset_out_of_sight_is_not_on_the_page(browse: Open) -> None:
    assert "Budgets of closed" in browse("ian").get("/budgets").text
    assert "closed" not in browse("ann").get("/budgets").text


def test_charts_of_one_page_have_ids_of_their_own(browse: Open) -> None:
    page = browse("olga").get("/budgets").text
    for place in range(3):
        assert page.count(f'id="spent{place}-wide-title"') == 1


def test_each_budget_over_time_has_a_sentence_and_of_many_datasets_one_at_a_time(
    browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = browse("olga").get("/budgets").text
    assert few.count("budget of sites is left") == few.count("<h3>Over time</h3>") // 3 == 1
    monkeypatch.setattr(budgets, "MOST_COURSES", 2)
    many = browse("olga").get("/budgets").text
    assert "<h3>Over time</h3>" not in many
    assert 'href="/budgets?dataset=sites"' in many
    one = browse("olga").get("/budgets?dataset=sites").text
    assert one.count("<h3>Over time</h3>") == 1
    assert "closed" not in one


def test_one_dataset_that_is_out_of_sight_is_absent(browse: Open) -> None:
    assert browse("ann").get("/budgets?dataset=closed").status_code == 404
    assert browse("ian").get("/budgets?dataset=closed").status_code == 200
