"""Test what previews say of the noise of estimates, before there is a release."""

import numpy as np
import pytest

from penstock.services.noise.estimates.expected import MOST_ROWS, expected_of
from penstock.services.noise.estimates.reading import estimates_of
from penstock.services.schemas.views import ColumnScaleView, ErrorView, ProductsView

COLUMNS = [ColumnScaleView("age", 50, 50), ColumnScaleView("cost", 1, 10)]
ERROR = ErrorView(3.0, 0.95, 5.88)
WEIGHTS = [6, 8, 8, 7, 8, 3]


@pytest.mark.parametrize("outcome", [None, "cost"])
def test_it_is_what_a_release_of_rows_spread_evenly_says(outcome: str | None) -> None:
    view = ProductsView(COLUMNS, outcome, 1, 2, WEIGHTS)
    found = expected_of(view, ERROR)
    grid = (np.arange(200) + 0.5) / 100 - 1
    points = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    whole = np.column_stack([np.ones(len(points)), points])
    gram = whole.T @ whole * (found.rows / len(points))
    values = gram[np.triu_indices(3)]
    released = estimates_of(np.arange(6), values, ERROR, view, "noise")
    assert [each.name for each in found.estimates] == [each.name for each in released]
    assert [each.standard_deviation for each in found.estimates] == pytest.approx(
        [each.standard_deviation for each in released], rel=1e-3
    )
    named = {each.name: each.weight for each in found.weights}
    assert [*named.values()] == WEIGHTS
    assert [*named] == ["n", "sum:age", "sum:cost", "sum:age,age", "sum:age,cost", "sum:cost,cost"]


def test_more_noise_takes_more_rows_and_estimates_are_in_inverse_proportion_to_them() -> None:
    view = ProductsView(COLUMNS, None, 1, 2, WEIGHTS)
    little, much = (
        expected_of(view, ErrorView(part * 3.0, 0.95, part * 5.88)) for part in (1, 1000)
    )
    assert (little.rows, much.rows) == (1000, 10**5)
    for one, other in zip(little.estimates[3:], much.estimates[3:], strict=True):
        # A thousand times the noise over a hundred times the rows.
        assert 10 * (one.standard_deviation or 0) == pytest.approx(other.standard_deviation)
    for one, other in zip(little.estimates[:3], much.estimates[:3], strict=True):
        assert 1000 * (one.standard_deviation or 0) == pytest.approx(other.standard_deviation)


def test_noise_above_all_has_no_standard_deviation_of_what_it_drowns() -> None:
    view = ProductsView(COLUMNS, None, 1, 2, [1] * 6)
    found = expected_of(view, ErrorView(1e13, 0.95, 1.96e13))
    assert found.rows == MOST_ROWS
    assert [each.standard_deviation is None for each in found.estimates] == [False] * 3 + [True] * 8


def test_sums_without_products_are_said_by_their_own_order() -> None:
    found = expected_of(ProductsView(COLUMNS, None, 1, 1, [1] * 3), ERROR)
    assert [each.name for each in found.estimates] == [
        *("n", "sum:age", "sum:cost", "mean:age", "mean:cost")
    ]
