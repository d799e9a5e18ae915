"""Test the correlated Gaussian mechanism against enumerated neighbors and published figures."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.oracles.correlated import correlated, disjoint, known_size, sparse

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, MultipleRelease
from penstock.privacy import NeighboringRelation, Sensitivity
from penstock.structures.factorization.matrices import Factorization

ADD_REMOVE, REPLACE = NeighboringRelation.ADD_REMOVE, NeighboringRelation.REPLACE


def _node_variance(mechanism: Factorization) -> float:
    """Return the variance that gives ``mu = 1``."""
    return float(mechanism.sensitivity.l2_squared)


@pytest.mark.parametrize(
    ("columns", "variance", "size"),
    [
        (1, 1, 2), (2, 1.457106781, 2.414213562), (10, 4.331138830, 4.162277660),
        (100, 30.25, 11), (1000, 266.061388301, 32.622776602),
    ],
)  # fmt: skip
def test_the_best_trade_off_has_its_known_variances(
    columns: int, variance: float, size: float
) -> None:
    mechanism = correlated(columns)
    found = mechanism.variances(_node_variance(mechanism))
    assert found[:-1] == pytest.approx(variance, rel=1e-6)
    assert found[-1] == pytest.approx(size, rel=1e-3)
    if columns <= 100:
        assert mechanism.lossless
    assert known_size(columns).variances(columns)[0] == pytest.approx(columns / 4)


@pytest.mark.parametrize(
    ("trade_off", "variance"),
    [
        (5, 2606.5), (10, 2550.25), (15, 2567.6111), (20, 2606.5), (30, 2728.0278), (50, 3126.25),
        (75, 3906.9444), (100, 5000.5), (150, 8125.3611), (200, 12500.3125),
    ],
)  # fmt: skip
def test_trade_offs_have_the_variances_of_the_papers_figure(
    trade_off: float, variance: float
) -> None:
    """Over 10,000 columns; by the closed form, which the next test holds to the matrices."""
    assert _closed_form(10_000, trade_off) == pytest.approx(variance, abs=5e-5)


def _closed_form(columns: int, trade_off: float) -> float:
    return (columns + trade_off**2 + columns / trade_off**2 + 1) / 4


@pytest.mark.parametrize("trade_off", [0.5, 1, 3.25, 8])
@pytest.mark.parametrize("columns", [1, 3, 16])
def test_variances_and_covariances_are_those_of_the_closed_form(
    columns: int, trade_off: float
) -> None:
    mechanism = correlated(columns, trade_off=trade_off)
    common = columns / trade_off**2 + 1
    covariance = mechanism.decoder @ mechanism.decoder.T * _node_variance(mechanism)
    assert np.diagonal(covariance)[:-1] == pytest.approx(_closed_form(columns, trade_off))
    assert covariance[-1, -1] == pytest.approx(common)
    assert covariance[-1, :-1] == pytest.approx(common / 2)
    if columns > 1:
        assert covariance[0, 1] == pytest.approx(common / 4)


def _moves(mechanism: Factorization, changes: list[tuple[int, ...]]) -> Sensitivity:
    """Return the largest norms over these changes of the inputs."""
    moved = [np.abs(mechanism.strategy @ np.array(change)).astype(object) for change in changes]
    scale = 1 << mechanism.digits
    return Sensitivity(
        Fraction(max(int(move.sum()) for move in moved), scale),
        Fraction(max(int((move * move).sum()) for move in moved), scale * scale),
        Fraction(max(int(move.max()) for move in moved), scale),
    )


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_no_record_moves_more_than_is_stated_and_some_move_as_much(
    columns: int, groups: int
) -> None:
    def at(group: int, record: tuple[int, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        inputs = np.zeros((groups, columns + 1), dtype=np.int64)
        inputs[group] = (*record, 1)
        return inputs.ravel()

    records = [
        at(group, record) for group in range(groups) for record in product((0, 1), repeat=columns)
    ]
    added = disjoint(columns, groups, ADD_REMOVE)
    assert _moves(added, [tuple(record) for record in records]) == added.sensitivity
    replaced = disjoint(columns, groups, REPLACE)
    changes = [tuple(new - old) for new in records for old in records if (new != old).any()]
    assert _moves(replaced, changes) == replaced.sensitivity


@pytest.mark.parametrize("columns", [1, 4, 9])
def test_replacement_has_its_corrected_variance(columns: int) -> None:
    mechanism = disjoint(columns, 3, REPLACE)
    variance = mechanism.variances(_node_variance(mechanism))
    assert variance[0] == pytest.approx(columns + 1)
    assert variance[columns] == pytest.approx(4)
    plain = 2 * columns
    assert variance[0] <= plain


@pytest.mark.parametrize(
    ("columns", "variance"), [(2, 1), (4, 1.866025), (10, 4), (100, 29.974937)]
)
def test_sparse_records_have_the_ellipse_of_least_variance(columns: int, variance: float) -> None:
    mechanism = sparse(columns, columns // 2)
    found = mechanism.variances(_node_variance(mechanism))
    assert found == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize(
    ("columns", "non_zero"), [(4, 1), (4, 2), (6, 2), (7, 3), (2, 2), (5, 4), (6, 6)]
)
def test_no_sparse_record_moves_more_than_is_stated(columns: int, non_zero: int) -> None:
    mechanism = sparse(columns, non_zero)
    records = [record for record in product((0, 1), repeat=columns) if 1 <= sum(record) <= non_zero]
    assert _moves(mechanism, records) == mechanism.sensitivity
    assert mechanism.variances(_node_variance(mechanism))[0] < non_zero + 1e-9


def test_what_is_decoded_is_what_was_put_in() -> None:
    for mechanism in (correlated(3), disjoint(2, 2, REPLACE), sparse(6, 2)):
        exact = np.arange(1, mechanism.strategy.shape[1] + 1, dtype=np.int64)
        nodes = np.ldexp(mechanism.nodes(exact).astype(np.float64), -mechanism.digits)
        assert mechanism.decode(nodes) == pytest.approx(exact, abs=1e-9)


def test_tiers_of_sums_and_size_are_released_in_any_order() -> None:
    mechanism = correlated(4)
    exact = np.array([40, 10, 30, 20, 60], dtype=np.int64)
    step = Fraction(1, 1 << mechanism.digits)
    level = Fraction(9)
    noise, ladder = Gaussian.plan(level, step, Fraction(10_000))
    steps = np.ldexp(mechanism.nodes(exact).astype(np.float64), -mechanism.digits)
    released = MultipleRelease(noise, ladder, steps, level)
    noisy, accurate = (mechanism.decode(released.at(each)) for each in (400, 9))
    assert np.abs(accurate - exact).max() < 60
    assert np.abs(noisy - exact).max() < 400
    assert (mechanism.decode(released.at(400)) == noisy).all()


def test_impossible_mechanisms_are_refused() -> None:
    impossible: list[Callable[[], Factorization]] = [
        lambda: correlated(0),
        lambda: correlated(3, trade_off=0),
        lambda: correlated(3, trade_off=float("nan")),
        lambda: disjoint(2, 0, ADD_REMOVE),
        lambda: known_size(0),
        lambda: sparse(4, 5),
        lambda: sparse(1, 1),
    ]
    for make in impossible:
        with pytest.raises(InvalidInput):
            make()
