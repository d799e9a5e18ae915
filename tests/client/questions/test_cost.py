"""Test how the cost of a question is shown."""

from typing import Any

import pytest
from tests.client.questions.asking import PREVIEW, ROOM_LEFT

from penstock_client import Client

SQL = "SELECT carrier, COUNT(*) AS n FROM flights GROUP BY carrier"


def test_the_cost_is_shown_with_what_is_left(client: Client) -> None:
    cost = client.sql(SQL, epsilon=0.5).preview()
    assert cost.fits
    assert list(cost.rows()) == [
        ("partner", "0.1", "±71.2 at 95%", "1.64%", "75% (epsilon 0.3)", "73.4%", "yes")
    ]
    page = cost._repr_html_()
    for text in (SQL.replace("*", "*"), "±71.2", "75% (epsilon 0.3)", "Nothing is charged yet"):
        assert text in page
    assert "charge 1.64%" in repr(cost)


def test_a_budget_that_does_not_suffice_is_stated(client: Client, answers: dict[str, Any]) -> None:
    room = {"fits": False, "needed_share": 0.1, "remaining_share": 0.01, "largest_share": 0.01}
    answers[PREVIEW]["tiers"][0]["room"] = room
    answers[PREVIEW]["refusal"] = "Too <little> is left."
    cost = client.sql(SQL, epsilon=0.5).preview()
    assert (cost.fits, cost.refusal) == (False, "Too <little> is left.")
    assert next(cost.rows())[-3:] == ("1% (epsilon 0.3)", "0%", "no")
    page = cost._repr_html_()
    assert "Too &lt;little&gt; is left." in page
    assert "<little>" not in page


def test_rows_that_count_otherwise_than_the_text_says_are_told(
    client: Client, answers: dict[str, Any]
) -> None:
    assert client.sql(SQL, epsilon=0.5).preview().notes == ()
    answers[PREVIEW]["notes"] = ["A row counts here only where <age> IS NOT NULL."]
    cost = client.sql(SQL, epsilon=0.5).preview()
    assert cost.notes == ("A row counts here only where <age> IS NOT NULL.",)
    assert "&lt;age&gt; IS NOT NULL" in cost._repr_html_()


@pytest.mark.parametrize("tier", ["public", "moon"])
def test_a_tier_whose_budget_is_not_shown_has_none(client: Client, tier: str) -> None:
    assert client.sql(SQL, epsilon=0.5).preview().remaining(tier) is None


def test_what_is_left_of_an_allowance_is_shown(client: Client, answers: dict[str, Any]) -> None:
    assert client.sql(SQL, epsilon=0.5).preview().allowance is None
    answers[PREVIEW]["allowance"] = ROOM_LEFT
    cost = client.sql(SQL, epsilon=0.5).preview()
    assert cost.allowance is not None
    assert cost.allowance.remaining_share == 0.75
    assert "75% is left; the question takes 10%." in cost._repr_html_()
    assert (cost.fits, cost.refusal) == (True, None)
    answers[PREVIEW]["allowance"] = {**ROOM_LEFT, "fits": False, "needed_share": 0.8}
    short = client.sql(SQL, epsilon=0.5).preview()
    assert not short.fits
    assert "takes 80%, which does not fit" in str(short.refusal)
