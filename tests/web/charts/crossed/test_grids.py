"""Test which key is the axis of a grid, and in which order its values and names are."""

import pytest
from tests.web.charts.pictures import grid, level

from penstock.errors import NotDrawable
from penstock.web.charts.crossed.grids import Grid, grid_of, positions_of


def made(first: tuple[str, ...], second: tuple[str, ...], values: list[float]) -> Grid:
    return grid(first, second, (level("a", values, 1),))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("2021", "2019", "2022"), (2021, 2019, 2022)),
        (("-1.5", "0", "10"), (-1.5, 0, 10)),
        (("1", "2", "3", "9999"), (0, 1, 2, 3)),
        (("[0, 20)", "[50, 100]", "[20, 50)"), (0, 2, 1)),
        (("[-inf, 0)", "[0, 1e+06)", "[1e+06, inf]"), (0, 1, 2)),
        (("2023-12", "2024-01", "2024-02"), (24288, 24289, 24290)),
        (("2023-Q4", "2024-Q1", "2024Q2"), (8096, 8097, 8098)),
        (("2024-02-28", "2024-02-29", "2024-03-01"), (738944, 738945, 738946)),
    ],
)
def test_numbers_bins_and_dates_have_an_order(
    texts: tuple[str, ...], expected: tuple[float, ...]
) -> None:
    assert positions_of(texts) == expected


@pytest.mark.parametrize(
    "texts",
    [
        ("north", "south", "west"),
        ("false", "true"),
        ("0", "1"),
        ("2019", "2020", "other"),
        ("1", "1.0", "2"),
        ("2024-13", "2024-14", "2024-15"),
        ("2023-02-29", "2023-02-30", "2023-02-31"),
        ("[a, b)", "[b, c)", "[c, d)"),
        ("nan", "inf", "1"),
    ],
)
def test_names_codes_with_labels_and_pairs_have_none(texts: tuple[str, ...]) -> None:
    assert positions_of(texts) == ()


def test_the_key_with_an_order_is_the_axis_wherever_it_stands() -> None:
    years = ("2022", "2019", "2020")
    first = made(years, ("free", "basic"), [1, 5, 2, 6, 3, 7])
    assert (first.steps, first.names) == (("2019", "2020", "2022"), ("basic", "free"))
    assert first.positions == (2019, 2020, 2022)
    second = made(("free", "basic"), years, [1, 2, 3, 5, 6, 7])
    assert (second.steps, second.names) == (first.steps, first.names)
    values = [interval.value for _, interval in second.line(1, second.levels[0])]
    assert values == [2, 3, 1]
    both = made(("1", "2", "3"), ("2019", "2020", "2021"), [float(v) for v in range(9)])
    assert both.steps == ("2019", "2020", "2021")


def test_without_an_order_the_largest_values_are_first_and_the_shorter_key_has_panels() -> None:
    towns = made(("yes", "no"), ("x", "y", "z"), [1, 9, 2, 8, 3, 20])
    assert (towns.names, towns.steps) == (("no", "yes"), ("z", "y", "x"))
    assert towns.positions == ()
    turned = made(("x", "y", "z"), ("yes", "no"), [1, 8, 9, 3, 2, 20])
    assert (turned.names, turned.steps) == (towns.names, towns.steps)
    assert [i.value for _, i in turned.row(0, turned.levels[0])] == [20, 2]


def test_further_keys_are_part_of_the_name() -> None:
    keys = [("free", year, sex) for year in ("1", "2", "3") for sex in ("f", "m")]
    three = grid_of("t", keys, [level("a", [1, 2, 3, 4, 5, 6], 1)])
    assert three is not None
    assert (three.names, three.steps) == (("free, m", "free, f"), ("1", "2", "3"))


def test_a_group_that_is_missing_leaves_a_gap() -> None:
    keys = [("a", "1"), ("a", "3"), ("b", "1"), ("b", "2"), ("b", "3")]
    some = grid_of("t", keys, [level("a", [1, 2, 3, 4, 5], 1)])
    assert some is not None
    assert [step for step, _ in some.line(1, some.levels[0])] == [0, 2]
    assert (len(some.places), some.count) == (5, 5)


@pytest.mark.parametrize(
    "keys",
    [
        [("a",), ("b",)],
        [("a", "1"), ("b",)],
        [("a", "1"), ("a", "1")],
        [("a", "1"), ("a", "2"), ("a", "3")],
        [("a", "1"), ("b", "1")],
        [],
    ],
)
def test_other_keys_are_no_grid(keys: list[tuple[str, ...]]) -> None:
    assert grid_of("t", keys, [level("a", [1.0] * len(keys), 1)]) is None


def test_without_levels_there_is_no_grid_and_each_group_needs_a_value() -> None:
    assert grid_of("t", [("a", "1"), ("b", "2")], []) is None
    with pytest.raises(NotDrawable, match="intervals for 2 groups"):
        grid_of("t", [("a", "1"), ("b", "2")], [level("a", [1], 1)])
