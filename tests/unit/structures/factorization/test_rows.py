"""Test that named matrices are what their names say, and that rows are applied exactly."""

import numpy as np
import pytest

from penstock.structures.factorization.rows import Given, Rows, Spans

SIZE = 7
LABELS = tuple("abcdefg")


def dense(rows: Rows) -> np.ndarray:
    """Return a matrix number by number."""
    return rows.times(np.eye(rows.size, dtype=np.int64), 0)


NAMED = {
    "identity": [[i == j for j in range(SIZE)] for i in range(SIZE)],
    "total": [[True] * SIZE],
    "prefix": [[j <= i for j in range(SIZE)] for i in range(SIZE)],
    "all_ranges": [[i <= k <= j for k in range(SIZE)] for i in range(SIZE) for j in range(i, SIZE)],
    "tree": [
        *([i == j for j in range(SIZE)] for i in range(SIZE)),
        *([j // 4 == i for j in range(SIZE)] for i in range(2)),
    ],
    "marginals": [*([i == j for j in range(SIZE)] for i in range(SIZE)), [True] * SIZE],
}
GIVEN = Given(((1, 0, -2, 0, 5, 0, 0), (0, 1, 1, 1, 0, 0, 0), (3, 0, 0, 0, 0, 0, -1)))
ALL: list[Given | Spans] = [*(Spans(name, SIZE) for name in NAMED), GIVEN]


@pytest.mark.parametrize("name", NAMED)
def test_a_name_stands_for_its_rows(name: str) -> None:
    rows = Spans(name, SIZE)
    assert dense(rows).tolist() == np.array(NAMED[name]).astype(int).tolist()
    assert rows.count == len(NAMED[name])


def test_an_unknown_name_has_no_rows() -> None:
    with pytest.raises(ValueError, match="'wavelet'"):
        _ = Spans("wavelet", 4).ends


@pytest.mark.parametrize("rows", ALL, ids=str)
def test_what_is_known_of_rows_is_that_of_their_matrix(rows: Given | Spans) -> None:
    matrix = dense(rows)
    assert matrix.shape == (rows.count, rows.size)
    assert rows.gram().tolist() == (matrix.T @ matrix).tolist()
    assert rows.column_sums.tolist() == abs(matrix).sum(axis=0).tolist()
    assert rows.row_sum == abs(matrix).sum(axis=1).max()
    assert rows.largest == abs(matrix).max()
    assert rows.is_signed == bool((matrix < 0).any())
    squares, sums = rows.lengths()
    assert squares.tolist() == (matrix**2).sum(axis=1).tolist()
    assert sums.tolist() == matrix.sum(axis=1).tolist()
    inner = np.arange(SIZE**2, dtype=float).reshape(SIZE, SIZE)
    assert rows.squares(inner).tolist() == np.diag(matrix @ inner @ matrix.T).tolist()


@pytest.mark.parametrize("rows", ALL, ids=str)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
def test_rows_are_applied_along_any_axis(rows: Given | Spans, axis: int, kind: type) -> None:
    shape = [2, 3, 2]
    for size, times, matrix in (
        (rows.size, rows.times, dense(rows)),
        (rows.count, rows.transposed, dense(rows).T),
    ):
        shape[axis] = size
        table = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        product = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
        applied = times(table.astype(kind), axis)
        assert applied.dtype == kind
        assert applied.tolist() == product.tolist()


def test_integers_beyond_64_bits_stay_exact() -> None:
    table = np.array([2**70, 1, 0, 0, 0, 0, 0], dtype=object)
    assert Spans("prefix", SIZE).times(table, 0)[-1] == 2**70 + 1
    assert GIVEN.times(table, 0)[2] == 3 * 2**70


def test_a_million_keys_need_no_matrix() -> None:
    counts = np.ones(10**6, dtype=np.int64)
    assert Spans("identity", 10**6).times(counts, 0) is counts
    assert Spans("total", 10**6).times(counts, 0).tolist() == [10**6]
    assert Spans("marginals", 10**6).times(counts, 0)[-1] == 10**6
    assert Spans("all_ranges", 10**6).count == 10**6 * (10**6 + 1) // 2


def test_rows_are_labelled_by_the_keys_that_they_add() -> None:
    assert Spans("identity", SIZE).labels(LABELS) == LABELS
    assert Spans("prefix", SIZE).labels(LABELS)[:3] == ("a", "a to b", "a to c")
    assert Spans("marginals", SIZE).labels(LABELS)[-1] == "all"
    rows = Given(((0, 1, 1, 0, 0, 0, 0), (0, 2, 0, 0, 0, 0, 0), (1,) * SIZE, (0, 0, 1, 0, 0, 0, 0)))
    assert rows.labels(LABELS) == ("b to c", "row 2", "all", "c")
    assert Given(((1, 0, 1, 0, 0, 0, 0),)).labels(LABELS) == ("row 1",)


def test_no_two_rows_have_one_label() -> None:
    twice = Given(((1, 0, 0), (1, 0, 0), (1, 2, 0)))
    assert twice.labels(("a", "b", "c")) == ("a (row 1)", "a (row 2)", "row 3")
    assert twice.labels(("row 3", "b", "c")) == ("row 3 (row 1)", "row 3 (row 2)", "row 3 (row 3)")
    for keys in (("a", "b", "a to b"), ("a", "a (row 1)", "a to b")):
        for rows in (Spans("tree", 3), Spans("all_ranges", 3), Given(((1, 1, 0), (1, 1, 0)))):
            labels = rows.labels(keys)
            assert len(set(labels)) == len(labels) == rows.count
