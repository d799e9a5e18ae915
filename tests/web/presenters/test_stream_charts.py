"""Test running totals as charts.

Which steps and numbers are drawn, and which ranges are refused.
"""

import numpy as np
import pytest
from tests.web.service_views import AT, RECEIPT, error, level

from penstock.errors import InvalidInput
from penstock.services.noise.derived.elements import elements
from penstock.services.schemas.estimates.covariance import TotalsCovarianceView
from penstock.services.schemas.streams import RunningTotalsView, Totals
from penstock.web.charts.results.totals import MOST_NUMBERS, MOST_STEPS
from penstock.web.presenters.stream_charts import (
    element_pictures,
    pictures,
    step_range,
    tiers,
)


def totals(tier: str, first: int, steps: int, dimension: int = 1) -> RunningTotalsView:
    """Return totals of a tier, ``steps`` from ``first`` on."""
    values = np.arange(steps * dimension, dtype=float).reshape(steps, dimension)
    items = Totals(first, values, [error(1.0)] * steps)
    shared = TotalsCovarianceView({"kind": "kary", "k": 2, "subtracting": False}, 1.0)
    return RunningTotalsView(
        "arrivals", "sites", tier, "gaussian", *level(1.0), 1.0, None, AT, RECEIPT, items, shared
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


def test_a_long_range_is_thinned_out_with_both_ends() -> None:
    (short,) = pictures([totals("public", 1, MOST_STEPS)])
    assert (len(short.table.rows), short.remark) == (MOST_STEPS, "")
    (long,) = pictures([totals("public", 5, 1000)])
    assert len(long.table.rows) == MOST_STEPS
    assert (long.table.rows[0][0], long.table.rows[-1][0]) == ("5", "1,004")
    assert "200 of 1,000 steps" in long.remark


def test_elements_of_many_numbers_show_the_first_ones() -> None:
    shown = pictures([totals("public", 1, 3, MOST_NUMBERS + 1)])
    assert len(shown) == MOST_NUMBERS
    assert "7 numbers" in shown[0].remark


def test_levels_over_one_range_share_a_picture_and_others_have_their_own() -> None:
    same = pictures([totals("internal", 1, 3), totals("public", 1, 3)])
    assert len(same) == 1
    assert same[0].message.count(" total after step 3: ") == 1
    assert same[0].message.endswith(" for public")
    titled = pictures([totals("internal", 1, 3)], "People who came")
    assert titled[0].message.startswith("People who came, total after step 3: ")
    assert len(pictures([totals("internal", 1, 3), totals("public", 2, 2)])) == 2


def test_values_of_steps_are_beside_each_other_by_level_and_number() -> None:
    length = 1 << 11
    levels = [elements(totals(tier, 1, 3, 2), length) for tier in ("internal", "public")]
    shown = element_pictures("arrivals", levels)
    assert [len(each.table.rows) for each in shown] == [3, 3]
    assert [each.remark for each in shown] == ["", ""]
    # Each number of a step is 2 more than that of the step before.
    assert [row[1] for row in shown[0].table.rows] == ["0", "2", "2"]
    assert "value of each step, number 2" in shown[1].table.caption
    assert shown[1].message.startswith("arrivals, number 2, value at step 3: 2 ± ")
    apart = [elements(totals("public", first, 4), length) for first in (1, 5)]
    assert [len(each.table.rows) for each in element_pictures("arrivals", apart)] == [4, 3]
    nothing = elements(totals("public", 7, 1), length)
    assert element_pictures("arrivals", [nothing]) == []


def test_values_of_a_long_range_are_thinned_out_as_totals_are() -> None:
    (long,) = element_pictures(
        "arrivals", [elements(totals("public", 5, 1001), 1 << 11, MOST_STEPS)]
    )
    assert len(long.table.rows) == MOST_STEPS
    assert "200 of 1,000 steps" in long.remark
    (wide, *rest) = element_pictures(
        "arrivals", [elements(totals("public", 1, 3, MOST_NUMBERS + 1), 1 << 11)]
    )
    assert len(rest) == MOST_NUMBERS - 1
    assert "7 numbers" in wide.remark


def test_numbers_of_an_element_are_called_by_their_labels_with_their_place() -> None:
    drawn = pictures([totals("public", 1, 3, 2)], "Arrivals", {"2": "By sea", "x": "unused"})
    captions = [each.table.caption for each in drawn]
    assert captions == [
        "arrivals: running totals, number 1",
        "arrivals: running totals, By sea (number 2)",
    ]
    assert drawn[1].message.startswith("Arrivals, By sea (number 2)")
    single = pictures([totals("public", 1, 3)], "Arrivals", {"1": "By land"})
    assert single[0].message.startswith("Arrivals, By land (number 1)")
