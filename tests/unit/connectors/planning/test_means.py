"""Test that a mean is stored as a pair for each key: the centered sum in half steps, and the count.

The pair is recomputed here with fractions, from the rows alone.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.connectors.cases import Folder, Row, dataset_of, prepared, query_of

MEAN = {"type": "mean", "column": "cost"}
LOWER, UPPER, STEP = -20, 100, Fraction(1, 2)
"""The bounds of the column ``cost`` in steps."""

BY_WARD = {"group_by": [{"column": "ward"}]}


def visit(person: object, ward: str, cost: object) -> Row:
    """Return a row of which only these matter."""
    return (person, ward, 1, cost, "", "")  # type: ignore[return-value]  # strange on purpose


def expected(rows: Sequence[tuple[str, str, Fraction]], max_rows: int) -> list[int]:
    """Return sums for the three wards, then weighted counts; everybody reaches every ward."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for person, ward, cost in rows:
        steps = math.floor(max(min(cost / STEP, Fraction(UPPER)), Fraction(LOWER)) + Fraction(1, 2))
        found[person, ward].append(2 * steps - LOWER - UPPER)
    sums, counts = dict.fromkeys("abc", 0), dict.fromkeys("abc", 0)
    for (_, ward), centered in found.items():
        scale = Fraction(min(len(centered), max_rows), len(centered))
        sums[ward] += math.floor(sum(centered) * scale + Fraction(1, 2))
        counts[ward] += min(len(centered), max_rows) * (UPPER - LOWER)
    return [*sums.values(), *counts.values()]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("pqr"),
            st.sampled_from("abc"),
            st.integers(-200, 600).map(lambda eighths: Fraction(eighths, 8)),
        ),
        max_size=40,
    ),
    max_rows=st.integers(1, 5),
)
def test_the_pair_is_the_centered_sum_and_the_weighted_count(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, Fraction]],
    max_rows: int,
) -> None:
    folder = Folder(tmp_path_factory.mktemp("files"))
    folder.csv([visit(person, ward, float(cost)) for person, ward, cost in rows])
    contribution = {"max_groups": 3, "max_rows_per_group": max_rows}
    query = query_of(MEAN, contribution=contribution, **BY_WARD)
    assert folder.ask(dataset_of(), query).tolist() == expected(rows, max_rows)


def test_many_rows_are_scaled_and_not_clamped(folder: Folder) -> None:
    # Clamping to two rows' worth would keep 200 half steps of the 400, and give a mean of 50.
    folder.csv([visit("ann", "a", 45)] * 3 + [visit("ann", "a", 25)] * 3)
    query = query_of(MEAN)
    sums, counts = folder.ask(dataset_of(), query).tolist()
    assert counts == 2 * 120
    assert Fraction(sums, counts) * 30 + 20 == 35


def test_a_mean_counts_only_rows_that_have_a_value(folder: Folder) -> None:
    folder.csv([visit("ann", "a", cost) for cost in (20, "nan", None, "x")])
    assert folder.ask(dataset_of(), query_of(MEAN)).tolist() == [0, 120]


def test_nothing_gives_a_sum_and_a_count_of_zero(folder: Folder) -> None:
    folder.csv([visit("ann", "nowhere", 20)])
    assert folder.ask(dataset_of(), query_of(MEAN, **BY_WARD)).tolist() == [0] * 6


def test_where_each_row_is_a_unit_all_rows_count(folder: Folder) -> None:
    folder.csv([visit("ann", "a", cost) for cost in (50, 50, 20, -99)])
    query = query_of(MEAN, contribution={})
    assert folder.ask(dataset_of(unit={"rows": 1}), query).tolist() == [120 + 120 + 0 - 120, 480]


def test_both_parts_saturate_at_the_declared_number_of_units(folder: Folder) -> None:
    folder.csv([visit(f"p{number}", "a", 50) for number in range(5)])
    query = query_of(MEAN, contribution={"max_rows_per_group": 1})
    assert folder.ask(dataset_of(max_units=2), query).tolist() == [240, 240]
    rows = dataset_of(max_units=3, unit={"rows": 1})
    assert folder.ask(rows, query_of(MEAN, contribution={})).tolist() == [360, 360]


def test_the_widest_values_and_the_most_rows_overflow_nothing(folder: Folder) -> None:
    columns = {
        "person": {"type": "string"},
        "cost": {"type": "integer", "lower": -(2**52), "upper": 2**52},
    }
    dataset = dataset_of(columns=columns, max_units=2)
    query = query_of(MEAN, contribution={"max_rows_per_group": 2**8})
    folder.csv([visit("ann", "a", 2**62)] * 400)
    assert folder.ask(dataset, query).tolist() == [2**61, 2**61]
    rows = dataset_of(columns=columns, max_units=2**9, unit={"rows": 1})
    folder.csv([visit("ann", "a", -(2**62))] * 3000)
    assert folder.ask(rows, query_of(MEAN, contribution={})).tolist() == [-(2**62), 2**62]


def test_a_mean_is_prepared_in_half_steps_with_two_numbers_a_key() -> None:
    query = prepared(dataset_of(max_units=1000), query_of(MEAN, **BY_WARD))
    assert query.step == Fraction(1, 4)
    assert query.dimension == 6
    assert list(query.keys or []) == ["a", "b", "c"]
    assert query.mean_bounds == (Fraction(-10), Fraction(50))
    # Two rows in each of two wards: 2 * 120 half steps of a quarter, in each of the pair.
    assert query.sensitivity.l1 == 240
    assert query.sensitivity.linf == 60
    assert query.sensitivity.l2_squared == 4 * 60**2
    assert query.bound == 1000 * 60


def test_the_bounds_of_a_mean_are_those_that_rows_are_rounded_to() -> None:
    query = prepared(dataset_of(), query_of({**MEAN, "lower": -8, "upper": 7, "step": 3}))
    assert query.mean_bounds == (Fraction(-9), Fraction(6))
    assert query.step == Fraction(3, 2)


def test_a_mean_and_a_sum_of_one_column_are_two_statistics() -> None:
    hashes = {
        prepared(dataset_of(), query_of({"type": kind, "column": "cost"})).canonical_hash
        for kind in ("sum", "mean")
    }
    assert len(hashes) == 2
