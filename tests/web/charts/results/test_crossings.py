"""Test which chart groups by several keys get, and that their table has all of them."""

import pytest
from tests.web.charts.pictures import around, level, parsed, texts

from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.drawing.values import Level
from penstock.web.charts.results.crossings import by_keys, by_table, marginal_remark, two_way
from penstock.web.charts.results.drawings import MAP, MARGINS, PLAIN, Names
from penstock.web.charts.results.releases import MOST_KEYS

NAMES = Names("people: your results", "People by plan and year", "people")
YEARS, SMOKES = ("2019", "2020", "2021"), ("no", "yes", "unknown")


def crossing(second: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((plan, other) for plan in ("free", "basic") for other in second)


@pytest.mark.parametrize(
    ("second", "levels", "has", "not_"),
    [
        (YEARS, 1, {"line", "whisker", "s0", "s1"}, {"band", "t0"}),
        (YEARS, 2, {"line", "band", "t0", "t1"}, {"whisker", "s0"}),
        (SMOKES, 1, {"whisker", "t0"}, {"line", "band", "s0"}),
        (SMOKES, 2, {"whisker", "t0", "t1"}, {"line", "band", "s0"}),
    ],
)
def test_a_key_with_an_order_is_drawn_as_lines_and_another_as_dots(
    second: tuple[str, ...], levels: int, has: set[str], not_: set[str]
) -> None:
    own = tuple(level(f"l{n}", [10, 20, 90, 40, 50, 10], 4 * n + 1) for n in range(levels))
    drawing = by_keys(NAMES, crossing(second), own, 0.95, 6, "Some are left out.")
    svg = drawing.draw("x", WIDE)
    classes = {name for part in parsed(svg).iter() if (name := part.get("class"))}
    assert has <= classes
    assert not not_ & classes
    assert f">{drawing.message}</title>" in svg
    assert drawing.message.startswith("People by plan and year for l0")
    assert (drawing.table.caption, drawing.remark) == (NAMES.title, "Some are left out.")
    assert [row[0] for row in drawing.table.rows] == [", ".join(key) for key in crossing(second)]
    assert any(line.startswith("People, with 95%") for line in texts(svg))


def test_one_key_is_drawn_as_before() -> None:
    drawing = by_keys(NAMES, (("a",), ("b",)), (level("l", [1, 2], 1),), 0.95)
    assert drawing.message == "People by plan and year for l: from 1 ± 1 (a) to 2 ± 1 (b)"


def test_a_long_table_has_the_first_groups_and_the_chart_says_how_many() -> None:
    plans = [f"plan {place}" for place in range(100)]
    keys = tuple((plan, year) for plan in plans for year in YEARS)
    own = Level("l", tuple(around(place, 1) for place in range(300)))
    drawing = by_keys(NAMES, keys, (own,), 0.95)
    assert len(drawing.table.rows) == MOST_KEYS
    assert "the table has 200 of them" in " ".join(texts(drawing.draw("x", WIDE)))
    one = by_keys(NAMES, tuple((f"{n}",) for n in range(300)), (own,), 0.95)
    assert len(one.table.rows) == MOST_KEYS
    assert one.message.startswith("People by plan and year for l, 200 of 300 groups: from")


def test_two_keys_are_a_heat_map_of_values_or_of_margins_if_that_was_chosen() -> None:
    own = (level("l", [10, 20, 90, 40, 50, 10], 4),)
    usual, heat, margins = (
        by_keys(NAMES, crossing(SMOKES), own, 0.95, look=look) for look in (PLAIN, MAP, MARGINS)
    )
    assert usual.looks == heat.looks == margins.looks == (PLAIN, MAP, MARGINS)
    assert (usual.look, heat.look, margins.look) == (PLAIN, MAP, MARGINS)
    assert 'class="cell"' not in usual.draw("x", WIDE)
    assert "90" in texts(heat.draw("x", WIDE))
    assert "± 4" in texts(margins.draw("x", WIDE))
    assert heat.message == usual.message
    assert margins.message.endswith("l: all margins are ± 4, 0 of 6 intervals include 0")
    assert by_keys(NAMES, (("a",), ("b",)), (level("l", [1, 2], 1),), 0.95, look=MAP).looks == ()


def test_of_the_first_cells_of_a_marginal_none_is_called_the_largest() -> None:
    own = (level("l", [10, 20, 900, 40, 50, 10], 1),)
    drawing = by_table(NAMES, crossing(SMOKES), own, 0.95, 9)
    assert drawing is not None
    assert "the largest" not in drawing.message
    assert drawing.message.startswith("People by plan and year for l, 6 of 9 groups: from")
    assert "3 of 9 groups are not shown" in " ".join(texts(drawing.draw("x", WIDE)))


def test_a_marginal_of_two_columns_is_a_heat_map_first() -> None:
    own = (level("l", [10, 20, 90, 40, 50, 10], 4),)
    drawing = by_table(NAMES, crossing(YEARS), own, 0.95)
    assert drawing is not None
    assert (drawing.look, drawing.looks) == (MAP, (MAP, MARGINS))
    assert 'class="cell"' in drawing.draw("x", WIDE)
    margins = by_table(NAMES, crossing(YEARS), own, 0.95, look=MARGINS)
    assert margins is not None
    assert "± 4" in texts(margins.draw("x", WIDE))
    assert by_table(NAMES, (("a", "b"),), (level("l", [1], 1),), 0.95) is None


def test_the_first_table_of_two_columns_is_drawn_and_the_others_are_counted() -> None:
    assert two_way([1, 1, 2, 2, 3], [2, 3, 6, 4, 12]) == (2, 5)
    assert two_way([1, 3], [2, 8]) is None
    assert marginal_remark([1, 2, 2, 3]) == "This is the first of 2 tables of two columns."
    assert marginal_remark([1, 2]) == ""
