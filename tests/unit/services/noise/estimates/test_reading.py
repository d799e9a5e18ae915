"""Test that the estimates of all groups are read from the values of a release."""

import numpy as np
import pytest
from tests.unit.services.noise.estimates.rows import rows, summed

from penstock.connectors.planning.plan import pairs
from penstock.services.noise.estimates.reading import estimates_of
from penstock.services.schemas.views import ColumnScaleView, ErrorView, Key, ProductsView

COLUMNS = [ColumnScaleView("age", 50, 50), ColumnScaleView("cost", 1, 10)]
ERROR = ErrorView(2.0, 0.95, 3.92)
EQUAL = [1] * 6
LABELS = ["n", "sum:age", "sum:cost", "sum:age,age", "sum:age,cost", "sum:cost,cost"]


def test_every_group_has_its_estimates_under_its_key() -> None:
    values = np.concatenate([summed(rows(400)), summed(rows(900, "others"))])
    keys: list[Key] = [[ward, label] for ward in "ab" for label in LABELS]
    view = ProductsView(COLUMNS, None, 1, 2, EQUAL)
    estimates = estimates_of(keys, values, ERROR, view, "noise")
    assert [each.key for each in estimates] == ["a"] * 11 + ["b"] * 11
    assert [each.value for each in estimates if each.name == "n"] == [400, 900]
    alone = estimates_of([*LABELS], values[6:], ERROR, view, "noise")
    assert [each.key for each in alone] == [None] * 11
    assert [each.value for each in alone] == [each.value for each in estimates[11:]]


def test_a_group_by_several_columns_has_a_key_of_several_parts() -> None:
    keys: list[Key] = [["a", "2026", label] for label in LABELS]
    view = ProductsView(COLUMNS, "cost", 1, 2, EQUAL)
    estimates = estimates_of(keys, summed(rows(400)), ERROR, view, "population")
    assert [(each.name, each.key) for each in estimates] == [
        ("n", ["a", "2026"]),
        ("intercept", ["a", "2026"]),
        ("coefficient:age", ["a", "2026"]),
    ]
    assert [each.interval for each in estimates] == ["noise", "population", "population"]


@pytest.mark.parametrize("read", [["old", "age"], ["cost", "old", "age"], ["age", "cost"]])
def test_moments_are_read_as_any_regression_of_their_columns(read: list[str]) -> None:
    """The same estimates come of moments of these columns alone, in this order."""
    points = np.column_stack([rows(400), rows(400, "old")[:, 1]])
    columns = [*COLUMNS, ColumnScaleView("old", 5, 3)]
    names = [each.name for each in columns]
    places = [names.index(name) for name in read]
    size = len(pairs(len(read)))
    alone = ProductsView([columns[place] for place in places], read[-1], 1, 2, [1] * size)
    labels: list[Key] = [["a", str(number)] for number in range(10)]
    whole = ProductsView(columns, read[-1], 1, 2, [1] * 10)
    found = estimates_of(labels, summed(points), ERROR, whole, "noise", read)
    expected = estimates_of(labels, summed(points[:, places]), ERROR, alone, "noise")
    assert [each.name for each in found] == [each.name for each in expected]
    assert [each.value for each in found] == pytest.approx([each.value for each in expected])
    assert [each.upper for each in found] == pytest.approx([each.upper for each in expected])


def test_sums_without_products_are_read_by_their_own_order() -> None:
    view = ProductsView(COLUMNS, None, 1, 1, [1] * 3)
    values = np.concatenate([summed(rows(400))[:3], summed(rows(900, "others"))[:3]])
    keys: list[Key] = [[ward, label] for ward in "ab" for label in LABELS[:3]]
    estimates = estimates_of(keys, values, ERROR, view, "population")
    assert [(each.name, each.key, each.interval) for each in estimates[:5]] == [
        *(("n", "a", "noise"), ("sum:age", "a", "noise"), ("sum:cost", "a", "noise")),
        *(("mean:age", "a", "population"), ("mean:cost", "a", "population")),
    ]
    assert [each.value for each in estimates if each.name == "n"] == [400, 900]


def test_noise_with_lighter_tails_than_a_normal_law_has_the_ratio_of_that_law() -> None:
    """A sum of such noises is nearer to a normal law than each of them is."""
    view = ProductsView(COLUMNS, None, 1, 2, EQUAL)
    lighter, own, heavier = (
        estimates_of([*LABELS], summed(rows(400)), ErrorView(2.0, 0.95, half), view, "noise")[1]
        for half in (3.2, 3.919928, 4.4)
    )
    assert own.upper == pytest.approx(lighter.upper)
    assert (heavier.upper or 0) > (own.upper or 0)
