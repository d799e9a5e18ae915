"""Test moments without noise against numpy's, and what is said where noise leaves none."""

import math

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

from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import FEWEST_UNITS, Estimate
from penstock.services.noise.estimates.regression import regression


def by_name(found: list[Estimate]) -> dict[str, Estimate]:
    return {each.name: each for each in found}


def test_without_noise_the_estimates_are_those_of_the_rows() -> None:
    points = rows(500)
    age, cost = in_units(points).T
    found = {each.name: each.value for each in moments(products(summed(points), 1e-9), SCALES)}
    assert list(found) == [
        *("n", "sum:age", "sum:cost", "mean:age", "mean:cost", "variance:age", "variance:cost"),
        *("standard_deviation:age", "standard_deviation:cost"),
        *("covariance:age,cost", "correlation:age,cost"),
    ]
    expected = [
        *(
            500,
            age.sum(),
            cost.sum(),
            age.mean(),
            cost.mean(),
            age.var(),
            cost.var(),
            age.std(),
            cost.std(),
        ),
        *(np.cov(age, cost, bias=True)[0, 1], np.corrcoef(age, cost)[0, 1]),
    ]
    assert list(found.values()) == pytest.approx(expected)


def test_an_interval_has_the_estimate_in_it_and_is_as_wide_as_its_deviation_says() -> None:
    for each in moments(products(summed(rows(2000)), 5.0), SCALES):
        assert each.value is not None
        assert each.lower is not None
        assert each.upper is not None
        assert each.standard_deviation is not None
        assert each.lower < each.value < each.upper
        width = 2 * 1.959964 * each.standard_deviation
        assert each.upper - each.lower == pytest.approx(width, rel=0.02)


@pytest.mark.parametrize("count", [0.0, -3.0, 49.0])
def test_too_few_rows_for_the_noise_give_a_count_and_sums_and_no_other_number(
    count: float,
) -> None:
    numbers = np.array([count, 1.0, 2.0, 3.0, 4.0, 5.0])
    first, *sums_and_others = moments(products(numbers, 5.0), SCALES)
    assert (first.name, first.value) == ("n", count)
    sums, others = sums_and_others[:2], sums_and_others[2:]
    assert [each.value for each in sums] == [50 * count + 50, count + 20]
    assert len(others) == 8
    assert {each.value for each in others} == {None}
    assert {each.standard_deviation for each in others} == {None}


def test_a_constant_column_has_a_variance_near_zero_and_no_correlation() -> None:
    points = np.column_stack([np.full(4000, 0.5), rows(4000)[:, 1]])
    noise = generator_of("constant").normal(0, 4, 6)
    found = by_name(moments(products(summed(points) + noise, 4.0), SCALES))
    spread = found["variance:age"]
    assert spread.lower == 0
    assert spread.upper is not None
    assert 0 < spread.upper < 50
    assert found["standard_deviation:age"].upper == pytest.approx(math.sqrt(spread.upper))
    assert found["correlation:age,cost"].value is None
    assert found["covariance:age,cost"].value is not None


def test_what_is_impossible_is_cut_off() -> None:
    """Means stay within the bounds, variances above 0, correlations between -1 and 1."""
    numbers = np.array([100.0, 103.0, -104.0, 99.0, -99.0, 99.0])
    found = by_name(moments(products(numbers, 3.0), SCALES))
    assert found["mean:age"].value == found["mean:age"].upper == 100
    assert found["mean:cost"].value == found["mean:cost"].lower == -9
    assert found["variance:age"].value == 0
    assert found["standard_deviation:age"].value == 0


def test_a_population_is_known_less_well_than_the_rows() -> None:
    numbers = summed(rows(300))
    told = by_name(moments(products(numbers, 1.0), SCALES))
    wider = by_name(moments(products(numbers, 1.0, sampling=True), SCALES))
    clustered = by_name(moments(products(numbers, 1.0, sampling=True, rows_per_unit=4), SCALES))
    for name in told:
        widths = [
            (each[name].upper or 0) - (each[name].lower or 0) for each in (told, wider, clustered)
        ]
        assert widths == sorted(widths)
        assert (widths[0] == widths[2]) == (name in {"n", "sum:age", "sum:cost"})
    mean = wider["mean:age"]
    variance = 50**2 * float(rows(300)[:, 0].var()) / 300
    from_noise = told["mean:age"].standard_deviation
    assert mean.standard_deviation == pytest.approx(math.sqrt(variance + (from_noise or 0) ** 2))


@pytest.mark.parametrize("rows_per_unit", [1, 3])
def test_about_a_population_few_units_give_a_count_and_no_other_number(rows_per_unit: int) -> None:
    """The spread of one unit is 0, and an interval from it would be about its rows alone."""
    fewest = FEWEST_UNITS * rows_per_unit
    for count, known in ((1, False), (fewest - 1, False), (fewest, True)):
        of = products(summed(rows(count)), 1e-9, rows_per_unit=rows_per_unit, sampling=True)
        for first, *others in (moments(of, SCALES), regression(of, SCALES)):
            assert first.value == count
            estimated = [each for each in others if not each.name.startswith("sum:")]
            assert {each.value is not None for each in estimated} == {known}
    about_rows = products(summed(rows(1)), 1e-9)
    assert by_name(moments(about_rows, SCALES))["mean:age"].value is not None
