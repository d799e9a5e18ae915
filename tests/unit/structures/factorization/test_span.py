"""Test that combinations of rows are recognized exactly, where doubles cannot."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.structures.factorization import span
from penstock.structures.factorization.rows import Given, Spans
from penstock.structures.factorization.span import kernel, outside, rank

numbers = st.integers(-3, 3) | st.sampled_from([1000, -1000, 999])
matrices = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.tuples(*[numbers] * size), min_size=1, max_size=6)
)


def rank_in_fractions(rows: list[tuple[int, ...]]) -> int:
    """Return the rank by elimination in fractions."""
    left = [[Fraction(entry) for entry in row] for row in rows]
    done = 0
    for column in range(len(rows[0])):
        chosen = next((row for row in range(done, len(left)) if left[row][column]), None)
        if chosen is None:
            continue
        left[done], left[chosen] = left[chosen], left[done]
        for row in range(done + 1, len(left)):
            times = left[row][column] / left[done][column]
            left[row] = [a - times * b for a, b in zip(left[row], left[done], strict=True)]
        done += 1
    return done


@settings(max_examples=200, deadline=None)
@given(rows=matrices)
def test_the_kernel_is_all_that_a_matrix_takes_to_nothing(rows: list[tuple[int, ...]]) -> None:
    matrix = np.array(rows)
    basis = kernel(matrix)
    assert not (matrix.astype(object) @ basis).any()
    assert rank(matrix) == rank_in_fractions(rows)
    size, nullity = basis.shape
    assert nullity == size - rank_in_fractions(rows)
    if nullity:
        assert rank_in_fractions([tuple(vector) for vector in basis.T.tolist()]) == nullity


@settings(max_examples=100, deadline=None)
@given(rows=matrices, data=st.data())
def test_a_row_is_outside_if_it_raises_the_rank(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    size = len(rows[0])
    queries = data.draw(st.lists(st.tuples(*[numbers] * size), min_size=1, max_size=3))
    known = rank_in_fractions(rows)
    raising = (
        row for row, query in enumerate(queries) if rank_in_fractions([*rows, query]) > known
    )
    assert outside(Given(tuple(queries)), Given(tuple(rows))) == next(raising, None)


def test_what_doubles_take_for_a_combination_is_none() -> None:
    """Rows that differ by one part in 10^19 of their inverse: least squares leaves no rest."""
    size = 8
    rows = [
        tuple(1000 if j == i else int(j == i + 1) for j in range(size)) for i in range(size - 1)
    ]
    strategy = Given(tuple(rows))
    # The kernel of the rows is (1, -1000, 1000^2, ...), of which the first entry is 10^-21.
    query = Given(((1, *[0] * (size - 1)),))
    residual = (
        np.array(query.rows)
        - np.array(query.rows) @ np.linalg.pinv(strategy.matrix.astype(float)) @ strategy.matrix
    )
    assert abs(residual).max() < 1e-12
    assert outside(query, strategy) == 0


def test_a_prime_that_takes_rows_for_combinations_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(span, "_PRIME", 3)
    assert rank(np.array([[3, 0], [0, 1]])) == 2
    assert rank(np.array([[3, 0], [0, 3]])) == 2
    assert rank(np.array([[3, 3], [1, 1]])) == 1


def test_named_strategies_answer_all_but_the_total_which_answers_itself() -> None:
    for name in ("identity", "tree", "marginals"):
        assert outside(Spans("all_ranges", 6), Spans(name, 6)) is None
    assert outside(Spans("total", 6), Spans("total", 6)) is None
    assert outside(Given(((2,) * 6, (1, 2, 1, 1, 1, 1))), Spans("total", 6)) == 1
    assert outside(Spans("prefix", 6), Spans("total", 6)) == 0
