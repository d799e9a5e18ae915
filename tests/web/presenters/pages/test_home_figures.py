"""Test the figures that an admin arrives at, and the small charts of an analyst's releases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from penstock.services.overviews.duties import DutiesView
from penstock.services.overviews.own_data import ResultView
from penstock.services.overviews.spent_shares import SpentSharesView, SpentView
from penstock.web.presenters.pages.home_figures import Figure, age, figures, result

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
IDLE = DutiesView(0, 0, 0, [], "provider", NOW - timedelta(days=3))
LITTLE = SpentSharesView([SpentView("sites", "internal", 0.8)], 1, 1)


def made(
    duties: DutiesView = IDLE, spent: SpentSharesView = LITTLE, days: float | None = 1
) -> dict[str, Figure]:
    at = None if days is None else NOW - timedelta(days=days)
    return {figure.page: figure for figure in figures(duties, spent, at, NOW)}


def test_nothing_presses_where_nothing_waits() -> None:
    found = made()
    assert [figure.presses for figure in found.values()] == [False] * 6
    assert [figure.text for figure in found.values()] == ["0", "0", "0", "24 hours", "3 days", "0"]
    assert found["budgets"].remark == "of 1 dataset"
    assert found["proposals"].fields == {"state": "open"}


def test_what_waits_presses_on_the_page_that_deals_with_it() -> None:
    busy = DutiesView(1200, 1, 2, ["pia", "paul"], "pepper", NOW - timedelta(days=400))
    spent = SpentSharesView([SpentView("sites", "internal", 0.81)], 24, 130)
    found = made(busy, spent, None)
    assert [figure.presses for figure in found.values()] == [True] * 6
    assert found["query_requests"].text == "1,200"
    assert found["budgets"].remark == "of the 24 newest, of 130 datasets"
    assert found["documentation"].text == "none known"
    assert found["keys"].remark.startswith("pepper")
    assert found["people"].remark == "the first of pia"
    assert made(replace(busy, people=["pia"]))["people"].remark == "of pia"
    assert made(days=8)["documentation"].presses


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 minutes"),
        (60, "1 minute"),
        (3599, "59 minutes"),
        (3600, "1 hour"),
        (48 * 3600 - 1, "47 hours"),
        (48 * 3600, "2 days"),
        (2000 * 86_400, "2,000 days"),
    ],
)
def test_an_age_is_in_whole_units(seconds: int, said: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == said


def test_a_release_without_numbers_has_its_name_alone() -> None:
    view = ResultView("id", "visits", "public", NOW, 0, None, None)
    assert (result(view, 0).title, result(view, 0).picture) == ("visits", None)
