"""Test the cells of a heat map: their numbers, their shades, and which may be 0."""

from collections.abc import Callable

import pytest
from tests.web.charts.pictures import SVG, grid, parsed, sentences, texts

from penstock.web.charts.crossed.grids import Grid
from penstock.web.charts.crossed.heat import LEAST, MOST_ROWS, heat_map, includes_zero, margin_map
from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.drawing.values import Interval, Level

OWN = Level(
    "internal",
    (
        *(Interval(100, 90, 110), Interval(3, -1, 7), Interval(40, 30, 50)),
        *(Interval(-5, -25, 15), Interval(60, 58, 62), Interval(0, 0, 8)),
    ),
)
TOWNS, SMOKES = ("x", "y", "z"), ("no", "yes")


def shades(svg: str) -> dict[str, str]:
    """Return the shade of each cell by the start of its tooltip."""
    return {
        (each[0].text or "").split(":")[0]: each.get("class", "")
        for each in parsed(svg).iter(f"{SVG}g")
        if len(each) == 2 and each[0].tag == f"{SVG}title"
    }


def outlined(svg: str) -> int:
    """Return the number of cells with a dashed outline, without that of the key."""
    rects = [each for each in parsed(svg).iter() if each.get("class") == "open"]
    assert all(each.get("stroke-dasharray") for each in rects)
    return len(rects) - 1


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_cells_have_their_numbers_and_the_higher_the_stronger(width: int) -> None:
    svg = heat_map(grid(TOWNS, SMOKES, (OWN,)), "p", width)
    assert {"100", "3", "40", "−5", "60", "0", *TOWNS, *SMOKES} <= set(texts(svg))
    assert shades(svg) == {
        "x, no": "h5",
        "x, yes": "h0",
        "y, no": "h2",
        "y, yes": "h0",
        "z, no": "h3",
        "z, yes": "h0",
    }
    assert "x, no: 100 (90 to 110)" in sentences(svg)


def test_margins_have_shades_of_their_own_and_are_rounded_up() -> None:
    svg = margin_map(grid(TOWNS, SMOKES, (OWN,)), "p", WIDE)
    assert {"± 10", "± 4", "± 20", "± 2"} <= set(texts(svg))
    # At both ends of the key and in their cells.
    assert (texts(svg).count("± 2"), texts(svg).count("± 20")) == (2, 2)
    assert shades(svg)["y, yes"] == "h5"
    assert shades(svg)["z, no"] == "h0"
    assert "Margins of error at 95%" in texts(svg)


@pytest.mark.parametrize("draw", [heat_map, margin_map])
def test_a_cell_that_may_be_0_is_outlined_and_counted(
    draw: Callable[[Grid, str, int], str],
) -> None:
    svg = draw(grid(TOWNS, SMOKES, (OWN,)), "p", WIDE)
    assert outlined(svg) == 3
    assert "Dashed: the interval includes 0. 3 of 6 intervals at 95% do." in texts(svg)
    assert [includes_zero(own) for own in OWN.intervals] == [False, True, False, True, False, True]


def test_columns_without_room_for_their_names_are_numbered() -> None:
    names = tuple(f"a long name {place}" for place in range(10))
    own = Level("a", tuple(Interval(v, v - 1, v + 1) for v in range(1000, 1100)))
    svg = heat_map(grid(names, names, (own,)), "p", NARROW)
    written = " ".join(texts(svg))
    assert "Columns: 1 a long name" in written
    assert "The numbers of cells are in the table." in written
    assert "1,042" not in texts(svg)
    wide = heat_map(grid(names, names, (own,)), "p", WIDE)
    assert "1,042" in texts(wide)


def test_what_has_no_room_is_counted_and_other_levels_are_said() -> None:
    names = tuple(f"n{place}" for place in range(MOST_ROWS + 2))
    count = len(names) ** 2
    own = Level("a", tuple(Interval(v, v - 1, v + 1) for v in range(count)))
    svg = heat_map(grid(names, names, (own, own)), "p", NARROW)
    cells = len(shades(svg))
    assert cells <= MOST_ROWS * NARROW / LEAST
    written = " ".join(texts(svg))
    assert f"{count - cells:,} of {count:,} groups are not shown here" in written
    assert "These are the numbers of a, the most accurate of 2 levels." in written


def test_equal_numbers_have_one_shade_and_a_missing_group_no_cell() -> None:
    own = Level("a", (Interval(5, 1, 9),) * 4)
    made = grid(("x", "y"), ("1", "2"), (own,))
    svg = heat_map(made, "p", WIDE)
    assert set(shades(svg).values()) == {"h0"}
    assert "h1" not in svg
    assert texts(svg).count("5") == 5
    del made.places[(0, 0)]  # type: ignore[attr-defined]
    assert len(shades(heat_map(made, "p", WIDE))) == 3
