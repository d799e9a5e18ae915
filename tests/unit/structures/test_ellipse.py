"""Test that counts without their size have the least noise, and move no further than is stated."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from penstock.errors import InvalidInput
from penstock.structures.counts import Change, Lift, best_weight
from penstock.structures.ellipse import Ellipse

SMALL = [(d, k) for d in range(2, 7) for k in range(1, d + 1)]
EVERY = [(d, k) for d in (2, 3, 5, 8, 9, 12, 17, 30) for k in range(1, d + 1)]


def _variance(ellipse: Ellipse) -> float:
    """Return the variance of a count at ``mu = 1``."""
    return float(ellipse.variance * ellipse.change(1).l2_squared * ellipse.step**2)


def _of_algorithm_1(columns: int) -> float:
    lift = Lift(columns, 1, best_weight(columns, replacing=False))
    return float(lift.variance * lift.change(1, 1).l2_squared * lift.step**2)


@pytest.mark.parametrize(
    ("columns", "non_zero", "variance"),
    [
        (2, 2, 4 / 3), (3, 2, 16 / 9), (3, 3, 1.8), (5, 5, 2.571429), (7, 7, 3.315503),
        (10, 7, 56 / 13), (10, 10, 56 / 13), (1000, 1000, 266.061353),
    ],
)  # fmt: skip
def test_counts_of_most_groups_have_their_known_variances(
    columns: int, non_zero: int, variance: float
) -> None:
    assert _variance(Ellipse(columns, non_zero)) == pytest.approx(variance, rel=5e-5)


@pytest.mark.parametrize(
    ("non_zero", "variance"), [(10, 9.9531), (100, 91.816), (250, 194.218), (500, 265.803)]
)
def test_a_thousand_columns_have_the_variances_of_the_papers_figure(
    non_zero: int, variance: float
) -> None:
    """In Figure 3 of Lebeda 2024, where separate noise has a variance of ``non_zero``."""
    assert _variance(Ellipse(1000, non_zero)) == pytest.approx(variance, rel=5e-5)


def _least_alike(columns: int, non_zero: int) -> float:
    """Return the least variance of ``p I + q J``, as a search over one ratio finds it.

    Noise across is 1, and along it is ``1 / ratio``: what the worst member makes of it is a sum
    of exponentials of the ratio's logarithm, so the most of these is convex.
    """
    ones = np.arange(1, non_zero + 1)
    across, along = ones * (columns - ones) / columns, ones**2 / columns

    def variance(logarithm: float) -> float:
        ratio = math.exp(logarithm)
        return float((across + ratio * along).max()) * (columns - 1 + 1 / ratio) / columns

    found = optimize.minimize_scalar(
        variance, bounds=(-12, 1), method="bounded", options={"xatol": 1e-9}
    )
    return float(found.fun)


@pytest.mark.parametrize(("columns", "non_zero"), [*EVERY, (100, 52), (100, 54), (100, 60)])
def test_noise_that_all_columns_have_alike_is_nowhere_less(columns: int, non_zero: int) -> None:
    least = _least_alike(columns, non_zero)
    assert _variance(Ellipse(columns, non_zero)) == pytest.approx(least, rel=2e-4)


def _below_any_gaussian(columns: int, non_zero: int) -> float:
    """Return a mean variance that no Gaussian noise of any covariance at ``mu = 1`` is below.

    If ``x^T Q x <= 1`` for all members, then ``trace(Q M) <= 1`` for a mean ``M`` of their
    ``x x^T``, with any weights; so ``trace(Q^-1) >= trace(M^(1/2))^2`` by Cauchy and Schwarz.
    The weights are those of a search, between members of two numbers of columns in a row.
    """
    squares = []
    for ones in range(1, non_zero + 1):
        chosen = [np.array(x) for x in product((0, 1), repeat=columns) if sum(x) == ones]
        squares.append(np.mean([np.outer(x, x) for x in chosen], axis=0))

    def bound(weight: float, place: int) -> float:
        mean = (1 - weight) * squares[place] + weight * squares[min(place + 1, non_zero - 1)]
        roots = np.sqrt(np.maximum(np.linalg.eigvalsh(mean), 0))
        return float(roots.sum()) ** 2 / columns

    weights = np.linspace(0, 1, 401)
    return max(bound(weight, place) for weight in weights for place in range(non_zero))


@pytest.mark.parametrize(("columns", "non_zero"), SMALL)
def test_no_gaussian_noise_of_any_covariance_is_less(columns: int, non_zero: int) -> None:
    least = _below_any_gaussian(columns, non_zero)
    found = _variance(Ellipse(columns, non_zero))
    # Floats of the search are off by their rounding.
    assert least * (1 - 1e-12) <= found < least * (1 + 2e-4)


def test_noise_is_never_above_that_with_the_size_and_as_much_where_the_root_is_whole() -> None:
    for columns, non_zero in EVERY:
        found = _variance(Ellipse(columns, non_zero))
        assert found < min(non_zero, _of_algorithm_1(columns)) * (1 + 2e-4)
    for root in (2, 3, 4, 10):
        found = _variance(Ellipse(root**2, root**2))
        assert found == pytest.approx(_of_algorithm_1(root**2), rel=1e-5)
    assert _variance(Ellipse(2, 2)) < 0.92 * _of_algorithm_1(2)


def test_half_of_the_columns_is_no_border() -> None:
    """Members of six of ten decide by themselves, and more than seven are in no more."""
    decide = {k: Ellipse(10, k).worst for k in range(1, 11)}
    assert decide == {**{k: (k,) for k in range(1, 7)}, **dict.fromkeys(range(7, 11), (6, 7))}
    assert Ellipse(7, 6).worst == (5,)
    assert Ellipse(4, 4).worst == (3,)


def _norms(moves: list[NDArray[np.int64]]) -> Change:
    exact = [np.abs(move).astype(object) for move in moves]
    return Change(
        max(move.sum() for move in exact),
        max((move * move).sum() for move in exact),
        max(move.max() for move in exact),
    )


@pytest.mark.parametrize(("columns", "non_zero"), SMALL)
def test_no_member_moves_the_nodes_further_than_is_stated_and_one_does(
    columns: int, non_zero: int
) -> None:
    """Among all who add none, one or two to each column, and so not the same to all of theirs."""
    ellipse = Ellipse(columns, non_zero)
    members = [x for x in product((0, 1, 2), repeat=columns) if 1 <= sum(map(bool, x)) <= non_zero]
    moves = [ellipse.nodes(np.array(x, dtype=np.int64)) for x in members]
    assert _norms(moves) == ellipse.change(2)
    assert ellipse.change(2).l2_squared == 4 * ellipse.change(1).l2_squared


@pytest.mark.parametrize(("columns", "non_zero"), EVERY)
def test_the_norms_are_those_of_the_worst_whole_member(columns: int, non_zero: int) -> None:
    ellipse = Ellipse(columns, non_zero)
    members = [np.arange(columns) < ones for ones in range(1, non_zero + 1)]
    moves = [ellipse.nodes(member.astype(np.int64)) for member in members]
    assert _norms(moves) == ellipse.change(1)
    squares = [float((move.astype(float) ** 2).sum()) for move in moves]
    for ones in ellipse.worst:
        assert squares[ones - 1] == pytest.approx(max(squares), rel=2e-3)


def test_members_of_all_columns_are_not_the_worst() -> None:
    """So that a sensitivity taken of these alone is too small."""
    for columns in (4, 9, 30):
        ellipse = Ellipse(columns, columns)
        moved = ellipse.nodes(np.ones(columns, dtype=np.int64)).astype(object)
        assert (moved * moved).sum() < 0.97 * ellipse.change(1).l2_squared


def test_nodes_of_few_groups_are_those_of_the_first_version() -> None:
    for columns, non_zero, diagonal, everywhere in [
        (2, 1, 19483, 0), (5, 2, 44276, -1925), (8, 4, 89638, -4316),
        (1000, 37, 9651487, -5773), (1000, 500, 5930158, -4875),
    ]:  # fmt: skip
        ellipse = Ellipse(columns, non_zero)
        assert (ellipse.diagonal, ellipse.everywhere) == (diagonal, everywhere)


def test_each_of_several_groups_is_read_as_if_it_were_the_only_one() -> None:
    one, three = Ellipse(3, 3), Ellipse(3, 3, groups=3)
    counts = np.array([[5, 0, 2], [700, 40, 1], [0, 0, 0]], dtype=np.int64)
    nodes = three.nodes(counts)
    assert nodes.tolist() == np.concatenate([one.nodes(own) for own in counts]).tolist()
    released = nodes << np.int64(7)
    values = three.values(released, three.step / 128)
    assert values == pytest.approx(counts.ravel(), abs=1e-9)
    apart = [one.values(own, one.step / 128) for own in released.reshape(3, 3)]
    assert values.tobytes() == np.concatenate(apart).tobytes()
    assert three.sizes().tolist() == [False] * three.size == [False] * 9


def test_a_sum_beyond_64_bits_is_read_exactly() -> None:
    ellipse = Ellipse(1 << 12, 3)
    released = np.full(1 << 12, (1 << 52) - 1, dtype=np.int64)
    values = ellipse.values(released, ellipse.step)
    along = ellipse.diagonal + ellipse.columns * ellipse.everywhere
    assert values == pytest.approx(float(Fraction((1 << 52) - 1, along)), rel=1e-9)


@pytest.mark.parametrize(
    ("columns", "non_zero", "groups"), [(1, 1, 1), (4, 5, 1), (4, 0, 1), (4, 2, 0)]
)
def test_members_that_there_cannot_be_are_refused(columns: int, non_zero: int, groups: int) -> None:
    with pytest.raises(InvalidInput, match="a member is in one of them up to all"):
        Ellipse(columns, non_zero, groups)
