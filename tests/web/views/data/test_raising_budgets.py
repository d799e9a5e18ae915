"""Test budgets by form: previewed, raised, and lowered down to what is spent."""

import pytest
from tests.api.world import World
from tests.web.world import Browser, text_of

NUMBERS = ["x", "-1", "0", "nan", "inf", "1e999", "9" * 39, "\u0660", "1_0"]


def test_a_budget_is_raised_and_lowered_down_to_what_is_spent(root: Browser, world: World) -> None:
    path = "/datasets/sites/budgets"
    assert root.submit(path, **{"epsilon internal": "5"}).status_code == 303
    granted = world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    assert granted["internal"]["epsilon"] == 5
    refused = root.submit(path, **{"epsilon public": "0.01", "epsilon internal": "6"})
    assert refused.status_code == 409
    assert 'value="0.01"' in refused.text
    assert 'value="6"' in refused.text
    assert world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"] == granted


def test_what_a_budget_would_mean_is_shown_and_nothing_is_done(root: Browser, world: World) -> None:
    path = "/datasets/sites/budgets"
    before = world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    page = root.submit(path, **{"epsilon internal": "50", "look": "1"})
    assert page.status_code == 200
    assert "Nothing is done yet" in text_of(page)
    assert "Sampler failure reserve spent now" in text_of(page)
    assert 'value="50"' in page.text
    refused = root.submit(path, **{"epsilon public": "0.01", "look": "1"})
    assert "It would be refused" in text_of(refused)
    assert world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"] == before
    assert root.submit(path, look="1").status_code == 422


@pytest.mark.parametrize("typed", NUMBERS)
def test_a_budget_that_is_no_number_stays_in_its_field(root: Browser, typed: str) -> None:
    answer = root.submit("/datasets/sites/budgets", **{"epsilon internal": typed})
    assert answer.status_code == 422
    assert f'value="{typed}"' in answer.text
    assert "Nothing was done" in text_of(answer)
