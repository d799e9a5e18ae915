"""Test products of matrices against the product itself, and the norms by enumeration."""

import itertools
import tracemalloc
from collections.abc import Iterable

import numpy as np
import pytest

from penstock.privacy.neighboring import NeighboringRelation
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans

ADDED, REPLACED = NeighboringRelation.ADD_REMOVE, NeighboringRelation.REPLACE

OF_ONE_KEY = Given(((1,), (-2,)))
SIGNED = Given(((1, 2, 0), (0, -1, 1), (1, 0, 3), (1, 1, 1)))
PLAIN = Given(((1, 1, 0), (0, 2, 1), (1, 0, 1)))
TWICE = Given(((1, -1), (1, 1)))


def workload(*pairs: tuple[Given | Spans, Given | Spans]) -> Workload:
    return Workload(tuple(Factor(*pair) for pair in pairs))


def over(*strategies: Given | Spans) -> Workload:
    """Return the workload of all cells under a strategy."""
    return workload(*((Spans("identity", each.size), each) for each in strategies))


def dense(product: Workload, part: str) -> np.ndarray:
    whole = np.ones((1, 1))
    for each in product.factors:
        rows = getattr(each, part)
        whole = np.kron(whole, rows.times(np.eye(rows.size), 0))
    return whole


NAMES = ("identity", "tree", "marginals")
CASES = [
    *(
        workload(
            (Spans(queries, 6), Spans(name, 6)),
            (Given(((1, 0, -2), (1, 1, 1))), SIGNED),
            (Spans("total", 4), Spans("total", 4)),
        )
        for queries in ("identity", "total", "prefix", "all_ranges")
        for name in NAMES
    ),
    workload((Given(((2, 2, 1), (1, 1, 0))), Given(((1, 1, 0), (2, 2, 1), (0, 0, 3))))),
]


@pytest.mark.parametrize("product", CASES, ids=str)
def test_the_covariance_of_answers_is_that_of_the_map_from_the_nodes(product: Workload) -> None:
    queries, strategy = dense(product, "queries"), dense(product, "strategy")
    answers = queries @ np.linalg.pinv(strategy)
    stated: np.ndarray = np.ones((1, 1))
    for each in product.factors:
        assert each.covariance.shape == (each.queries.count, each.queries.count)
        stated = np.kron(stated, each.covariance)
    assert stated == pytest.approx(answers @ answers.T, rel=1e-9, abs=1e-9)
    assert stated.diagonal() == pytest.approx(product.variances)


@pytest.mark.parametrize("product", CASES, ids=str)
def test_answers_are_those_of_the_product_without_it(product: Workload) -> None:
    queries, strategy = dense(product, "queries"), dense(product, "strategy")
    counts = np.arange(strategy.shape[1]) * 7 % 9
    places = np.flatnonzero(counts)
    nodes = product.nodes(np.unravel_index(places, product.sizes), counts[places])
    assert nodes.tolist() == (strategy @ counts).tolist()
    assert (product.dimension, product.count) == (len(strategy), len(queries))
    noisy = (nodes + np.sin(np.arange(len(nodes)) ** 2)).astype(np.float64)
    inverse = np.linalg.pinv(strategy)
    assert np.allclose(product.answers(noisy), queries @ inverse @ noisy)
    assert np.allclose(product.answers(nodes.astype(float)), queries @ counts)
    covariance = queries @ inverse @ inverse.T @ queries.T
    assert np.allclose(product.variances, np.diag(covariance))
    assert product.largest_variance == pytest.approx(product.variances.max())
    assert product.mean_variance == pytest.approx(product.variances.mean())
    assert {each.outside for each in product.factors} == {None}
    assert all(each.is_computed for each in product.factors)


def units(strategy: np.ndarray, max_cells: int, max_rows: int) -> Iterable[np.ndarray]:
    """Yield what every unit gives, also one without a row that counts."""
    cells = range(strategy.shape[1])
    for number in range(max_cells + 1):
        for chosen in itertools.combinations(cells, number):
            for counts in itertools.product(range(1, max_rows + 1), repeat=number):
                yield strategy[:, list(chosen)] @ np.array(counts, dtype=float)


def largest(vectors: np.ndarray) -> tuple[int, int, int]:
    sizes = abs(vectors)
    return int(sizes.sum(axis=1).max()), int((sizes**2).sum(axis=1).max()), int(sizes.max())


STRATEGIES = [
    over(Spans("identity", 3)),
    over(Spans("tree", 6)),
    over(Spans("marginals", 3), Spans("identity", 2)),
    over(SIGNED),
    over(PLAIN, Spans("marginals", 2)),
    over(SIGNED, TWICE),
    over(TWICE, TWICE, Spans("total", 2)),
    over(OF_ONE_KEY),
    over(OF_ONE_KEY, SIGNED),
    over(Spans("tree", 1), OF_ONE_KEY),
]
EVEN = STRATEGIES[:3]
"""Strategies to which each key gives as much as the others, and nothing that is negative."""


@pytest.mark.parametrize("product", STRATEGIES, ids=str)
@pytest.mark.parametrize(("max_cells", "max_rows"), [(1, 1), (1, 3), (2, 2)])
def test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it(
    product: Workload, max_cells: int, max_rows: int
) -> None:
    given_by = np.array(list(units(dense(product, "strategy"), max_cells, max_rows)))
    reached, derived = largest(given_by), product.moved(ADDED, max_cells, max_rows)
    assert all(norm <= bound for norm, bound in zip(reached, derived, strict=True))
    assert max_cells > 1 or reached == derived
    apart = largest((given_by[:, None] - given_by[None]).reshape(-1, product.dimension))
    bounds = product.moved(REPLACED, max_cells, max_rows)
    assert all(norm <= bound for norm, bound in zip(apart, bounds, strict=True))
    if product in EVEN:
        assert apart[1] == bounds[1] or max_cells > 1
        assert reached[:2] == derived[:2]


def test_cells_that_share_sums_do_not_add_up_as_groups_do() -> None:
    product = over(Spans("marginals", 4), Spans("marginals", 3))
    strategy = dense(product, "strategy")
    together = strategy[:, 0] + strategy[:, 1]
    assert (together**2).sum() > 2 * product.moved(ADDED, 1, 1)[1]
    assert (together**2).sum() == product.moved(ADDED, 2, 1)[1]


@pytest.mark.parametrize(
    ("product", "alone"),
    [
        (over(Spans("identity", 4)), False),
        (over(Spans("marginals", 4)), True),
        (over(Spans("marginals", 4), Spans("marginals", 3)), False),
        (over(Spans("tree", 4), Spans("identity", 2)), False),
        (over(SIGNED), False),
    ],
    ids=str,
)
def test_of_two_units_in_two_cells_the_worst_are_found(product: Workload, *, alone: bool) -> None:
    """What both units give to one sum cancels, so that one without rows may be further away."""
    strategy, bound = dense(product, "strategy"), product.moved(REPLACED, 2, 3)[1]
    given_by = np.array(list(units(3 * strategy, 2, 1)))
    apart = largest((given_by[:, None] - given_by[None]).reshape(-1, product.dimension))[1]
    assert apart <= bound
    names = [each.strategy.name for each in product.factors if isinstance(each.strategy, Spans)]
    assert apart == bound or names not in (["identity"], ["marginals"])
    assert (bound == product.moved(ADDED, 2, 3)[1]) == alone


def test_a_unit_in_several_cells_of_the_identity_is_charged_as_in_groups() -> None:
    product = over(Spans("identity", 5), Spans("identity", 4))
    assert product.moved(ADDED, 3, 2) == (6, 12, 2)
    assert product.moved(REPLACED, 3, 2) == (12, 24, 2)


def test_a_million_cells_need_no_dense_matrix() -> None:
    """The product of two columns of a thousand keys is a matrix of 14 terabytes."""
    places = [np.arange(1000), np.arange(1000)[::-1]]
    for name in NAMES:
        tracemalloc.start()
        product = workload(
            (Spans("prefix", 1000), Spans(name, 1000)), (Spans("total", 1000), Spans(name, 1000))
        )
        nodes = product.nodes(places, np.arange(1000))
        answers = product.answers(nodes.astype(np.float64))
        assert np.allclose(answers, np.cumsum(np.arange(1000)))
        assert product.variances.shape == (1000,)
        product.moved(REPLACED, 1, 1)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 200e6


def test_sums_beyond_the_range_of_integers_saturate() -> None:
    product = over(SIGNED)
    nodes = product.nodes([np.array([0, 2])], np.array([2**61, 2**62 - 1]))
    assert nodes.tolist() == [2**61, 2**62 - 1, 2**62, 2**62]
    nodes = product.nodes([np.array([1])], np.array([2**62]))
    assert nodes.tolist() == [2**62, -(2**62), 0, 2**62]


def test_no_cell_with_rows_gives_nothing() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert over(SIGNED, TWICE).nodes([empty, empty], empty).tolist() == [0] * 8


def test_rows_that_are_nearly_combinations_are_not_computed() -> None:
    size = 9
    rows = [
        tuple(1000 if j == i else int(j == i + 1) for j in range(size)) for i in range(size - 1)
    ]
    strategy = Given((*rows, (*[0] * (size - 1), 1)))
    assert Factor(Spans("identity", size), strategy).outside is None
    worse = Given((*rows[::-1], (1, *[0] * (size - 1))))
    factor = Factor(Spans("identity", size), worse)
    assert (factor.outside, factor.is_computed) == (None, False)
