"""Test the covariance of combinations against the maps by which the server computes values.

Values are a linear map of independent noises, so that their covariance is that map times its
transpose; the map is read off by giving it one noise after the other.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.structures.counts import Centered, Lift, Nodes
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans
from penstock.structures.marginals.lattice import Marginals, up_to
from penstock.structures.marginals.tables import reconstructed
from penstock_client._http.fields import Fields
from penstock_client._values.covariance import Covariance, GroupedCounts, covariance_of
from penstock_client._values.marginals import Marginal
from penstock_client.errors import ProtocolError

Matrix = NDArray[np.float64]
GENERATOR_STEPS = 1 << 20
NODES: dict[str, Nodes] = {
    "two of five": Ellipse(5, 2),
    "nearly all of five, in three groups": Ellipse(5, 4, 3),
    "columns and their size": Lift(3, 1, 5000),
    "groups whose members add up to two": Lift(2, 3, 3000, per_unit=2),
}
LABELS = {"ward": "abc", "sex": "fm", "old": "ny"}


def weighted(size: int, number: int) -> dict[int, float]:
    """Return weights of about half of the values, some of them negative."""
    return {
        place: float((place * 7 + number * 5) % 11 - 4)
        for place in range(size)
        if (place + number) % 2 or number % 3 == 0
    }


def compare(covariance: Covariance, exact: Matrix) -> None:
    """Assert that combinations have the covariance that a matrix gives."""
    size = len(exact)
    for number in range(6):
        first, second = weighted(size, number), weighted(size, number + 1)
        one, other = (
            np.array([each.get(at, 0.0) for at in range(size)]) for each in (first, second)
        )
        assert covariance.of(first, second) == pytest.approx(one @ exact @ other, abs=1e-6)
        assert covariance.of(first, first) == pytest.approx(one @ exact @ one, rel=1e-6)


def squared(values: Callable[[NDArray[np.int64]], Matrix], size: int) -> Matrix:
    """Return the covariance of values of independent noises of variance 1."""
    still = values(np.zeros(size, dtype=np.int64))
    columns = [
        (values(row) - still) / GENERATOR_STEPS
        for row in np.eye(size, dtype=np.int64) * GENERATOR_STEPS
    ]
    return np.array(columns).T @ np.array(columns)


def of_nodes(nodes: Nodes) -> GroupedCounts:
    size, together = nodes.size_variance, nodes.size_covariance
    return GroupedCounts(
        nodes.together,
        float(nodes.variance),
        float(nodes.covariance),
        None if size is None else float(size),
        None if together is None else float(together),
    )


@pytest.mark.parametrize("name", NODES)
def test_counts_of_a_group_share_noise(name: str) -> None:
    nodes = NODES[name]
    exact = squared(lambda steps: nodes.values(steps, Fraction(1)), nodes.size)
    compare(of_nodes(nodes), exact)
    assert not np.allclose(exact, np.diag(np.diag(exact)))


def test_counts_of_a_known_size_share_none() -> None:
    known = Centered(4, Fraction(1000))
    exact = squared(lambda steps: known.values(steps, Fraction(1)), 4)
    assert np.allclose(exact, np.eye(4) * float(known.variance))
    assert (known.together, known.covariance) == (1, Fraction(0))


def test_cells_of_marginals_share_their_residuals() -> None:
    names, labels = list(LABELS), [tuple(each) for each in LABELS.values()]
    tables = Marginals(tuple(map(len, labels)), up_to(3, 2))

    def values(steps: NDArray[np.int64]) -> Matrix:
        cells = reconstructed(tables, steps.astype(np.float64))
        return np.concatenate([cells[each].ravel() for each in tables.sets])

    exact = squared(values, tables.dimension)
    stated = {
        "labels": {name: len(each) for name, each in LABELS.items()},
        "residuals": [
            {"columns": [names[at] for at in each], "variance": 1 / weight**2}
            for each, weight in zip(tables.protected, tables.weights, strict=True)
        ],
    }
    marginals = [
        Marginal(
            tuple(names[at] for at in each),
            {
                tuple(labels[at][place] for at, place in zip(each, places, strict=True)): 0.0
                for places in np.ndindex(tables.shape(each))
            },
            1.0,
        )
        for each in tables.sets
    ]
    covariance = covariance_of(Fields({"marginals": stated}, "covariance"), marginals)
    assert covariance is not None
    compare(covariance, exact)
    # A total over all cells of a marginal has the noise of the total alone.
    assert covariance.of({0: 1, 1: 1, 2: 1}, {0: 1, 1: 1, 2: 1}) == pytest.approx(
        1 / tables.weights[0] ** 2
    )


def test_answers_of_a_workload_share_the_noise_of_their_nodes() -> None:
    ages = Factor(Spans("prefix", 4), Spans("tree", 4))
    wards = Factor(Given(((1, 0, 0), (1, 1, -1))), Given(((1, 2, 0), (0, -1, 1), (1, 0, 3))))
    workload = Workload((ages, Factor(Spans("total", 2), Spans("identity", 2)), wards))
    exact = squared(lambda steps: workload.answers(steps.astype(np.float64)), workload.dimension)
    matrices = [each.covariance.tolist() for each in workload.factors]
    stated = {"answers": {"variance": 9.0, "factors": matrices, "omitted": None}}
    covariance = covariance_of(Fields(stated, "covariance"), ())
    assert covariance is not None
    compare(covariance, 9 * exact)
    assert not np.allclose(exact, np.diag(np.diag(exact)))


def test_a_matrix_that_is_not_square_is_refused() -> None:
    wrong: list[object] = [[[[1.0, 0.0]]], [[[1.0], [1.0]]], [[]], [1.0], [["a"]]]
    for factors in wrong:
        stated = {"answers": {"variance": 9.0, "factors": factors}}
        with pytest.raises(ProtocolError, match="factors"):
            covariance_of(Fields(stated, "covariance"), ())


def test_a_covariance_of_another_kind_is_not_known() -> None:
    assert covariance_of(Fields({"later": {}, "marginals": None}, "covariance"), ()) is None
