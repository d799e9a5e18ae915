"""Test least squares without noise against numpy's, and where the matrix is near a singular one."""

import numpy as np
import pytest
from tests.unit.services.noise.estimates.rows import (
    SCALES,
    generator_of,
    in_units,
    products,
    rows,
    summed,
)

from penstock.services.noise.estimates.products import Scale
from penstock.services.noise.estimates.regression import regression

THREE = (Scale("age", 50, 50), Scale("dose", -2, 0.25), Scale("cost", 1, 10))


def test_without_noise_the_coefficients_are_those_of_the_rows() -> None:
    generator = generator_of("three")
    points = generator.uniform(-1, 1, (400, 3))
    points[:, 2] = np.clip(0.3 * points[:, 0] - 0.5 * points[:, 1] + points[:, 2] / 4, -1, 1)
    age, dose, cost = in_units(points, THREE).T
    found = regression(products(summed(points), 1e-9, factors=3), THREE)
    assert [each.name for each in found] == [
        *("n", "intercept", "coefficient:age", "coefficient:dose")
    ]
    matrix = np.column_stack([np.ones(400), age, dose])
    expected = np.linalg.lstsq(matrix, cost, rcond=None)[0]
    assert [each.value for each in found[1:]] == pytest.approx(expected.tolist())


def test_the_gradient_is_what_moving_each_number_a_little_does() -> None:
    numbers = summed(rows(300))
    for place in range(1, 3):
        moved = []
        for position in range(len(numbers)):
            ends = []
            for sign in (1, -1):
                changed = numbers.copy()
                changed[position] += sign * 1e-4
                ends.append(regression(products(changed, 1e-9), SCALES)[place].value or 0.0)
            moved.append((ends[0] - ends[1]) / 2e-4)
        found = regression(products(numbers, 1e-3), SCALES)[place]
        assert found.standard_deviation == pytest.approx(
            1e-3 * float(np.linalg.norm(moved)), rel=1e-5
        )


@pytest.mark.parametrize("deviation", [1e-6, 1.0, 20.0])
def test_a_matrix_that_may_be_singular_gives_no_coefficient(deviation: float) -> None:
    points = np.column_stack([np.full(4000, 0.5), rows(4000)[:, 1]])
    noise = generator_of("constant").normal(0, deviation, 6)
    first, *others = regression(products(summed(points) + noise, deviation), SCALES)
    assert first.value == pytest.approx(4000, abs=6 * deviation)
    assert [each.value for each in others] == [None, None]


@pytest.mark.parametrize("count", [0.0, -1e9])
def test_without_rows_there_is_no_coefficient(count: float) -> None:
    numbers = np.array([count, 0, 0, 0, 0, 0])
    assert [each.value for each in regression(products(numbers, 1.0), SCALES)] == [
        *(count, None, None)
    ]


def test_about_a_population_a_coefficient_has_the_error_of_least_squares_too() -> None:
    points = rows(300)
    age, cost = in_units(points).T
    slope = regression(products(summed(points), 1e-9, sampling=True), SCALES)[2]
    fitted = np.polyval(np.polyfit(age, cost, 1), age)
    expected = np.sqrt(np.mean((cost - fitted) ** 2) / np.sum((age - age.mean()) ** 2))
    assert slope.standard_deviation == pytest.approx(expected)
