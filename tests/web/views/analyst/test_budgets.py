"""Test the page of budgets: one chart a dataset, of the tiers that the caller may see."""

from tests.web.world import Open


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
