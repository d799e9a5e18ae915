"""Test the structures that replace counts against matrix mechanisms and known figures."""

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles.correlated import correlated, disjoint, known_size, sparse

from penstock.errors import InvalidInput
from penstock.privacy import NeighboringRelation
from penstock.structures.counts import (
    DIGITS,
    Centered,
    Lift,
    Nodes,
    best_weight,
    fourth_root,
    weight_of,
)
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.matrices import Factorization

ADD_REMOVE, REPLACE = NeighboringRelation.ADD_REMOVE, NeighboringRelation.REPLACE


def _best(columns: int, groups: int = 1) -> Lift:
    return Lift(columns, groups, best_weight(columns, replacing=False))


@pytest.mark.parametrize(
    ("columns", "deviation", "size"),
    [
        (1, 1, 2), (2, 1.207106781, 2.414213562), (10, 2.081138830, 4.162277660),
        (100, 5.5, 11), (1000, 16.311388301, 32.622776602), (10_000, 50.5, 101),
        (1_000_000, 500.5, 1001),
    ],
)  # fmt: skip
def test_lifts_of_any_size_have_their_known_deviations(
    columns: int, deviation: float, size: float
) -> None:
    lift = _best(columns)
    node = lift.change(1, 1).l2_squared * lift.step**2
    assert float(lift.variance * node) ** 0.5 == pytest.approx(deviation, rel=1e-6)
    assert float(lift.size_variance * node) == pytest.approx(size, rel=1e-3)
    centered = Centered(columns, Fraction(7))
    assert centered.variance * centered.change(1, 1).l2_squared == Fraction(columns, 4)


@pytest.mark.parametrize(
    ("trade_off", "variance"),
    [
        (5, 2606.5), (10, 2550.25), (15, 2567.6111), (20, 2606.5), (30, 2728.0278), (50, 3126.25),
        (75, 3906.9444), (100, 5000.5), (150, 8125.3611), (200, 12500.3125),
    ],
)  # fmt: skip
def test_ten_thousand_columns_have_the_variances_of_the_papers_figure(
    trade_off: float, variance: float
) -> None:
    lift = Lift(10_000, 1, weight_of(trade_off))
    node = lift.change(1, 1).l2_squared * lift.step**2
    assert float(lift.variance * node) == pytest.approx(variance, abs=5e-5)


@pytest.mark.parametrize("columns", [1, 4, 9])
def test_under_replacement_variances_are_the_corrected_ones(columns: int) -> None:
    lift = Lift(columns, 3, best_weight(columns, replacing=True))
    across = 2 * lift.change(1, 1).l2_squared
    node = max(across, lift.change(2, 0).l2_squared) * lift.step**2
    assert lift.variance * node == columns + 1
    assert lift.size_variance * node == 4


@pytest.mark.parametrize(
    ("columns", "variance"), [(2, 1), (4, 1.866025), (10, 4), (100, 29.974937)]
)
def test_half_full_records_have_the_ellipse_of_least_variance(
    columns: int, variance: float
) -> None:
    ellipse = Ellipse(columns, columns // 2)
    node = ellipse.change(1).l2_squared * ellipse.step**2
    assert float(ellipse.variance * node) == pytest.approx(variance, rel=1e-3)


PAIRS: list[tuple[Nodes, Factorization]] = [
    (_best(3), correlated(3)),
    (Lift(2, 3, best_weight(2, replacing=True)), disjoint(2, 3, REPLACE)),
    (Lift(4, 2, weight_of(3.5)), disjoint(4, 2, ADD_REMOVE, trade_off=3.5)),
    (Centered(4, Fraction(0)), known_size(4)),
    (Ellipse(6, 2), sparse(6, 2)),
    (Ellipse(7, 3), sparse(7, 3)),
    (Ellipse(4, 4), sparse(4, 4)),
    (Ellipse(6, 5), sparse(6, 5)),
]


@pytest.mark.parametrize(("nodes", "matrices"), PAIRS)
def test_values_and_variances_are_those_of_the_matrices(
    nodes: Nodes, matrices: Factorization
) -> None:
    released = (np.arange(nodes.size, dtype=np.int64) * 7919 - 20_000) ** 2 % 100_003 - 40_000
    granularity = Fraction(1, 1 << 10)
    found = nodes.values(released, granularity)
    assert found == pytest.approx(matrices.decode(np.ldexp(released.astype(float), -10)), rel=1e-12)
    factors = np.where(nodes.sizes(), float(nodes.size_variance or 0), float(nodes.variance))
    assert matrices.variances(1.0) == pytest.approx(factors, rel=1e-12)


@pytest.mark.parametrize("lift", [_best(3), _best(4, 3), Lift(2, 1, weight_of(0.7), 3)])
def test_exact_nodes_of_a_lift_read_as_the_counts_that_they_are_of(lift: Lift) -> None:
    counts = np.arange(lift.groups * lift.columns, dtype=np.int64).reshape(lift.groups, -1)
    sizes = np.arange(11, 11 + lift.groups, dtype=np.int64) * lift.per_unit
    nodes = lift.nodes(2 * counts - sizes[:, None], sizes)
    found = lift.values(nodes << np.int64(8), lift.step / 256)
    assert found[~lift.sizes()] == pytest.approx(counts.ravel(), abs=1e-9)
    assert found[lift.sizes()] == pytest.approx(sizes / lift.per_unit, abs=1e-9)


def test_exact_nodes_of_an_ellipse_read_as_the_counts_that_they_are_of() -> None:
    for columns, non_zero in ((2, 1), (2, 2), (5, 2), (5, 4), (1000, 37), (1000, 700)):
        ellipse = Ellipse(columns, non_zero)
        counts = np.arange(columns, dtype=np.int64) ** 2 % 101
        nodes = ellipse.nodes(counts)
        assert np.abs(nodes).max() <= int(counts.max()) * ellipse.widest
        assert ellipse.values(nodes, ellipse.step) == pytest.approx(counts, abs=1e-6)


def test_roots_are_those_of_whole_numbers_rounded_down() -> None:
    assert best_weight(16, replacing=False) == 2 << DIGITS
    assert best_weight(16, replacing=True) == 4 << DIGITS
    assert fourth_root(81, 16, 10) == 3 << 9
    for columns in (2, 3, 1000, 10**7 - 1):
        root = best_weight(columns, replacing=False)
        assert root**4 <= columns << 4 * DIGITS < (root + 1) ** 4


def _read_exactly(nodes: Nodes, released: list[int], granularity: Fraction) -> list[float]:
    """Return the values in rational arithmetic, rounded where it is stated."""
    if isinstance(nodes, Centered):
        return [float(node * granularity + nodes.known) / 2 for node in released]
    if isinstance(nodes, Ellipse):
        a, b = nodes.diagonal * nodes.step, nodes.everywhere * nodes.step
        found = []
        for place in range(0, nodes.size, nodes.columns):
            own = released[place : place + nodes.columns]
            common = Fraction(float(b * sum(own) * granularity / (a + nodes.columns * b)))
            found += [float(Fraction(float(node * granularity - common)) / a) for node in own]
        return found
    assert isinstance(nodes, Lift)
    found = []
    for place in range(0, nodes.size, nodes.columns + 1):
        *own, last = released[place : place + nodes.columns + 1]
        size = Fraction(float(last * granularity / nodes.trade_off))
        found += [float(node * granularity + size) / 2 for node in own]
        found.append(float(size / nodes.per_unit))
    return found


@pytest.mark.parametrize(
    "nodes",
    [
        _best(5, 2), Lift(3, 2, 5000, 3), Centered(6, Fraction(1001)), Ellipse(12, 4),
        Ellipse(7, 1), Ellipse(7, 6), Ellipse(3, 3, groups=4),
    ],
)  # fmt: skip
def test_a_release_is_read_with_the_stated_roundings_and_no_others(nodes: Nodes) -> None:
    """So that it has the same bits on every machine."""
    released = (np.arange(1, nodes.size + 1, dtype=np.int64) * 6364136223846793005) >> np.int64(13)
    granularity = Fraction(1, 1 << 20)
    found = nodes.values(released, granularity)
    assert found.tolist() == _read_exactly(nodes, released.tolist(), granularity)


def test_impossible_nodes_are_refused() -> None:
    for make in (
        lambda: Lift(0, 1, 1),
        lambda: Lift(1, 1, 0),
        lambda: Centered(0, Fraction(0)),
        lambda: Centered(2, Fraction(-1)),
        lambda: weight_of(0),
        lambda: weight_of(float("inf")),
    ):
        with pytest.raises(InvalidInput):
            make()
