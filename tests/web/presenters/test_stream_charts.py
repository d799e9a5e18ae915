"""Test running totals as charts.

Which steps and numbers are drawn, and which ranges are refused.
"""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from tests.web.service_views import AT, RECEIPT, error, level

from penstock.errors import InvalidInput
from penstock.services.schemas.estimates.covariance import TotalsCovarianceView
from penstock.services.schemas.streams import RunningTotalsView, Totals
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.web.charts.results.totals import MOST_NUMBERS, MOST_STEPS
from penstock.web.presenters.figure import Picture
from penstock.web.presenters.release_charts import PLAIN
from penstock.web.presenters.stream_charts import (
    number_in,
    pictures,
    step_range,
    tiers,
    values_of,
)


def totals(tier: str, first: int, steps: int, dimension: int = 1) -> RunningTotalsView:
    """Return totals of a tier, ``steps`` from ``first`` on."""
    values = np.arange(steps * dimension, dtype=float).reshape(steps, dimension)
    items = Totals(first, values, [error(1.0)] * steps)
    shared = TotalsCovarianceView({"kind": "kary", "k": 2, "subtracting": False}, 1.0)
    return RunningTotalsView(
        "arrivals",
        "sites",
        tier,
        "gaussian",
        *level(1.0),
        1.0,
        None,
        AT,
        RECEIPT,
        items,
        shared,
        None,
    )


@pytest.mark.parametrize(
    ("given", "span"),
    [
        ({}, (None, None)),
        ({"from": " 2 ", "to": "7"}, (2, 7)),
        ({"from": "", "to": "9" * 15}, (None, 10**15 - 1)),
    ],
)
def test_a_range_is_read_from_a_form(given: dict[str, str], span: tuple[int, int]) -> None:
    assert tuple(step_range(given).values()) == span


@pytest.mark.parametrize("typed", ["0", "-1", "1.5", "x", "9" * 16, "\u0661"])
def test_a_step_that_is_no_positive_number_is_refused_at_its_field(typed: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        step_range({"to": typed})
    assert refusal.value.errors[0][0] == "/to"


def test_chosen_tiers_are_read_the_most_trusted_first_and_unknown_ones_before_all() -> None:
    ranked = ["public", "partner", "internal"]
    assert tiers(["public", "internal", "public", ""], ranked) == ["internal", "public"]
    assert tiers(["public", "absent"], ranked) == ["absent", "public"]
    assert tiers([], ranked) == [None]


def drawn(*levels: RunningTotalsView, wording: StatisticWordingView = PLAIN) -> list[Picture]:
    """Return the pictures of totals, with the values of steps that follow from them."""
    made = pictures(levels, [values_of(each, 1 << 11) for each in levels], wording)
    return [each.picture for each in made]


def test_a_long_range_is_thinned_out_with_both_ends() -> None:
    (short,) = drawn(totals("public", 1, MOST_STEPS))
    assert (len(short.table.rows), short.remark) == (MOST_STEPS, "")
    (later,) = drawn(totals("public", 5, MOST_STEPS))
    assert (len(later.table.rows), later.remark) == (MOST_STEPS, "")
    (long,) = drawn(totals("public", 5, 1000))
    assert len(long.table.rows) == MOST_STEPS
    assert (long.table.rows[0][0], long.table.rows[-1][0]) == ("5", "1,004")
    assert "200 of 1,000 steps" in long.remark


def test_elements_of_many_numbers_show_the_first_ones() -> None:
    shown = drawn(totals("public", 1, 3, MOST_NUMBERS + 1))
    assert len(shown) == MOST_NUMBERS
    assert "7 numbers" in shown[0].remark


def test_levels_over_one_range_share_a_picture_and_others_have_their_own() -> None:
    same = drawn(totals("internal", 1, 3), totals("public", 1, 3))
    assert len(same) == 1
    assert same[0].message.count(" total after step 3: ") == 1
    assert same[0].message.endswith(" for public")
    wording = StatisticWordingView(title="People who came", unit="people")
    titled = drawn(totals("internal", 1, 3), wording=wording)
    assert titled[0].message.startswith("People who came, total after step 3: ")
    assert "Value by step in people, with 95% confidence intervals" in titled[0].drawn
    assert len(drawn(totals("internal", 1, 3), totals("public", 2, 2))) == 2


def test_values_of_steps_stand_above_totals_by_level_and_number() -> None:
    shown = drawn(*(totals(tier, 1, 3, 2) for tier in ("internal", "public")))
    assert [len(each.table.rows) for each in shown] == [3, 3]
    # Each number of a step is 2 more than that of the step before.
    head = shown[0].table.head
    at, after = head.index("internal: value"), head.index("internal: total")
    rows = [(row[at], row[after]) for row in shown[0].table.rows]
    assert rows == [("0", "0"), ("2", "2"), ("2", "4")]
    assert "running totals, number 2" in shown[1].table.caption
    assert shown[1].message.startswith("arrivals, number 2, total after step 3: 5 ± ")
    assert shown[0].drawn.count('class="band"') == 2 * 2 * 2


def test_the_first_step_of_a_later_range_has_a_total_and_no_value() -> None:
    (later,) = drawn(totals("public", 5, 3))
    assert [row[1] for row in later.table.rows] == ["", "1", "1"]
    (alone,) = drawn(totals("public", 7, 1))
    assert [row[1] for row in alone.table.rows] == ["0"]
    assert alone.table.head[1] == "total"


def test_numbers_of_an_element_are_called_by_their_labels_with_their_place() -> None:
    wording = StatisticWordingView(title="Arrivals", shown_labels={"2": "By sea", "x": "unused"})
    shown = drawn(totals("public", 1, 3, 2), wording=wording)
    assert [each.table.caption for each in shown] == [
        "arrivals: running totals, number 1",
        "arrivals: running totals, By sea (number 2)",
    ]
    assert shown[1].message.startswith("Arrivals, By sea (number 2)")
    labeled = StatisticWordingView(title="Arrivals", shown_labels={"1": "By land"})
    (single,) = drawn(totals("public", 1, 3), wording=labeled)
    assert single.message.startswith("Arrivals, By land (number 1)")


def test_each_picture_says_which_number_and_which_tiers_it_is_of() -> None:
    levels = [totals("internal", 1, 3, 2), totals("public", 2, 2, 2)]
    made = pictures(levels, [values_of(each, 1 << 11) for each in levels])
    said = [(each.number, each.tiers) for each in made]
    assert said == [(n, (tier,)) for tier in ("internal", "public") for n in (1, 2)]


@pytest.mark.parametrize("text", ["0", "2", "-1", "x", "9" * 50, "\u0661"])
def test_a_chart_that_there_is_not_is_refused(text: str) -> None:
    assert number_in("", 1) == number_in("1", 1) == 0
    with pytest.raises(InvalidInput, match="from 1 to 1"):
        number_in(text, 1)
    with pytest.raises(InvalidInput, match=f"from 1 to {MOST_NUMBERS}"):
        number_in(str(MOST_NUMBERS + 1), 1000)


def test_days_of_steps_are_shown_where_they_are_known() -> None:
    known = totals("public", 5, 1000)
    days = [date(2026, 1, 1) + timedelta(place) for place in range(1000)]
    (long,) = drawn(replace(known, days=days))
    assert long.message.startswith("arrivals, total after 2028-09-26 (step 1,004): 999 ± ")
    names = [row[0] for row in long.table.rows]
    assert (len(names), names[0]) == (MOST_STEPS, "2026-01-01 (step 5)")
    assert [bool(row[1]) for row in long.table.rows[:2]] == [False, True]
    assert ">day (UTC), 2026 to 2028<" in long.drawn
    (unknown,) = drawn(known)
    assert ">day (UTC)" not in unknown.drawn
