"""Test the released numbers of one group, and intervals from their noise."""

import math

import numpy as np
import pytest
from tests.unit.services.noise.estimates.rows import products, summed

from penstock.services.noise.estimates.products import unclear


def test_numbers_are_a_symmetric_matrix_with_the_count_first() -> None:
    points = np.array([[1.0, -0.5], [0.5, 0.25]])
    matrix = products(summed(points), 1.0).matrix
    constant = np.column_stack([np.ones(2), points])
    assert matrix == pytest.approx(constant.T @ constant)


def test_an_estimate_has_the_noise_along_its_gradient() -> None:
    own = products(np.arange(6.0), 2.0, ratio=3.0)
    each = own.estimated("sum", 7.0, np.array([0, 3.0, 4.0, 0, 0, 0]), 99.0, scale=10)
    assert (each.value, each.standard_deviation) == (70, 100)
    assert (each.lower, each.upper) == (70 - 300, 70 + 300)


def test_sampling_adds_its_variance_for_as_many_rows_as_a_unit_has() -> None:
    own = products(np.arange(6.0), 2.0, rows_per_unit=5, sampling=True)
    gradient = np.array([1.0, 0, 0, 0, 0, 0])
    each = own.estimated("n", 0.0, gradient, 1.5)
    assert each.standard_deviation == pytest.approx(math.sqrt(4 + 5 * 1.5))
    # A variance that noise has made negative adds nothing.
    assert own.estimated("n", 0.0, gradient, -9.0).standard_deviation == 2


def test_without_a_number_there_is_none_of_them() -> None:
    each = unclear("mean:age")
    assert each.name == "mean:age"
    assert {each.value, each.lower, each.upper, each.standard_deviation} == {None}
