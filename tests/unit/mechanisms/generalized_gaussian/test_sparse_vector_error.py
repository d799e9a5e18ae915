"""Test the expected largest error of searched and corrected counts, at the ends of the search."""

import pytest

from penstock.mechanisms.generalized_gaussian.sparse_vector_error import (
    Noise,
    Search,
    expected_maximum,
)


def test_where_nothing_is_found_the_error_is_that_of_the_noise_alone() -> None:
    search = Search(1e9, 1.0, 1.0, 3)
    found = expected_maximum(1_000, Noise(3.0, 10.0), search, Noise(2.0, 1.0))
    assert found == pytest.approx(10 * 1.734499848, rel=1e-5)
    one = expected_maximum(1, Noise(2.0, 10.0), Search(1e9, 1.0, 1.0, 1), Noise(2.0, 1.0))
    assert one == pytest.approx(10 * 0.564189584, rel=1e-5)


def test_where_all_are_found_the_error_is_that_of_the_answers_anew() -> None:
    all_found = Search(-1e6, 1.0, 1.0, 10)
    found = expected_maximum(10, Noise(2.0, 1.0), all_found, Noise(4.0, 1.0))
    assert found == pytest.approx(1.004873190, rel=1e-4)


def test_an_answer_that_is_found_and_drawn_as_before_is_as_far_off_in_the_mean() -> None:
    """With one value of which all are found, nothing but the second noise counts."""
    noise = Noise(2.0, 10.0)
    found = expected_maximum(1, Noise(2.0, 3.0), Search(-1e6, 1.0, 1.0, 1), noise)
    assert found == pytest.approx(10 * 0.564189584, rel=1e-4)


def test_the_error_grows_with_the_number_of_values_and_with_the_scale() -> None:
    noise, search = Noise(2.0, 5.0), Search(12.0, 1.0, 2.0, 2)
    few, many = (expected_maximum(count, noise, search, Noise(2.0, 1.0)) for count in (10, 100))
    assert few < many
    wide = Search(24.0, 2.0, 4.0, 2)
    doubled = expected_maximum(10, Noise(2.0, 10.0), wide, Noise(2.0, 2.0))
    assert doubled == pytest.approx(2 * few, rel=1e-6)
