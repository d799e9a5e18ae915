"""Test which steps of a stream are drawn, and what is said of the rest."""

import numpy as np
import pytest

from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.results.drawings import Names
from penstock.web.charts.results.totals import (
    MOST_STEPS,
    Numbers,
    by_step,
    level_of,
    places_of,
    remarks_of,
    suffix_of,
)


@pytest.mark.parametrize("count", [1, 2, MOST_STEPS, MOST_STEPS + 1, 777, 100_000])
def test_steps_are_at_equal_distances_from_the_first_to_the_last(count: int) -> None:
    evenly = np.linspace(0, count - 1, min(count, MOST_STEPS)).round()
    assert places_of(count) == np.unique(evenly.astype(int)).tolist()


def test_what_is_left_out_is_said() -> None:
    assert remarks_of(5, 5, 1) == []
    assert remarks_of(200, 1000, 7) == [
        "200 of 1,000 steps are shown; choose a shorter range for all.",
        "The first 6 of 7 numbers are shown.",
    ]
    assert [suffix_of(1, 1, {}), suffix_of(1, 3, {}), suffix_of(1, 3, {"2": "beds"})] == [
        *("", ", number 2", ", beds (number 2)")
    ]


def test_the_sentence_of_a_stream_has_the_total_after_its_last_step() -> None:
    totals = Numbers((1, 1200), (level_of("public", [3.0, 1300.0], [2.0, 2.0]),))
    values = Numbers((1200,), (level_of("public", [5.0], [2.0]),))
    names = Names("hits: running totals", "Hits", "visits")
    drawing = by_step(names, values, totals, 0.95, "Some are left out.")
    assert drawing.message == "Hits, total after step 1,200: 1,300 ± 2 for public"
    assert (drawing.table.caption, drawing.remark) == (names.title, "Some are left out.")
    assert [row[1] for row in drawing.table.rows] == ["", "5"]
    svg = drawing.draw("x", WIDE)
    assert f">{drawing.message}</title>" in svg
    for quantity in ("Value by step in visits, ", "Running total in visits, "):
        assert svg.count(f">{quantity}") == 1
    alone = by_step(names, Numbers(), totals, 0.95)
    assert "value" not in alone.table.head
    assert "Value by step" not in alone.draw("x", WIDE)
