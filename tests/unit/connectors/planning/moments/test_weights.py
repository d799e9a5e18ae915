"""Test the weights of moments: which are chosen, that they pay, and what is refused."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.moments.grid import planned
from penstock.connectors.planning.moments.weights import weighted, weights_of
from penstock.connectors.planning.plan import labels_of, pairs
from penstock.connectors.planning.prepare import PreparedQuery, prepare
from penstock.connectors.specs.models import DatasetSpec
from penstock.connectors.specs.moments import MOST_FACTORS, Moments, Regression
from penstock.errors import InvalidInput

NUMBER = {"type": "number", "lower": -1, "upper": 1}
NAMES = tuple(f"x{place}" for place in range(MOST_FACTORS))
BOTH: dict[str, Any] = {"type": "moments", "columns": ["x0", "x1"]}
SLOPE: dict[str, Any] = {"type": "regression", "outcome": "x1", "predictors": ["x0"]}

Numbers = NDArray[np.float64]


def dataset() -> DatasetSpec:
    return dataset_of(columns={"person": {"type": "string"}, **dict.fromkeys(NAMES, NUMBER)})


def prepared(aggregate: dict[str, Any], mechanism: str = "gaussian") -> PreparedQuery:
    query = query_of(aggregate, contribution={"max_rows_per_group": 1})
    return prepare(dataset(), query, version=1, mechanism=mechanism)


def moments_of(columns: int) -> Moments | Regression:
    return weighted(Moments(type="moments", columns=NAMES[:columns]), "gaussian")


def regression_of(predictors: int) -> Moments | Regression:
    of = Regression(type="regression", outcome="y", predictors=NAMES[:predictors])
    return weighted(of, "gaussian")


def matrix_of(numbers: Numbers, columns: int) -> Numbers:
    matrix = np.zeros((columns + 1, columns + 1))
    for (first, second), number in zip(pairs(columns), numbers, strict=True):
        matrix[first, second] = matrix[second, first] = number
    return matrix


def spreads(numbers: Numbers, columns: int) -> Numbers:
    """Return the variances and covariances of sums of products, by their definition."""
    matrix = matrix_of(numbers, columns) / numbers[0]
    found = matrix - np.outer(matrix[0], matrix[0])
    return np.array([found[place] for place in pairs(columns) if place[0]])


def slopes(numbers: Numbers, columns: int) -> Numbers:
    """Return the coefficients of all predictors but the constant."""
    matrix = matrix_of(numbers, columns)
    return np.asarray(np.linalg.solve(matrix[:columns, :columns], matrix[:columns, columns]))[1:]


def squares(of: Any, numbers: Numbers, columns: int) -> Numbers:
    """Return the squares of the derivatives of what ``of`` returns, by moving each number."""
    step = 1e-5
    moved = np.eye(len(numbers)) * step
    ends = [of(numbers + sign, columns) for sign in (*moved, *-moved)]
    up, down = np.split(np.array(ends), 2)
    found: Numbers = np.square((up - down) / (2 * step)).T
    return found


def typical(columns: int, slope: float | None) -> list[tuple[float, Numbers, Numbers]]:
    """Return products of independent columns, each with its share and the columns' variances.

    The nodes have the moments of means between the bounds up to the fifth.  With ``slope`` the last
    column has all slopes of this size, of either sign.
    """
    nodes, shares = np.polynomial.legendre.leggauss(3)
    predictors = columns - 1
    signs = itertools.product((-1, 1), repeat=predictors) if slope else [()]
    cases = []
    for sign, places in itertools.product(signs, itertools.product(range(3), repeat=columns)):
        means = nodes[list(places)]
        variances = (1 - means**2) / 3
        points = np.diag(variances)
        if slope:
            leaning = slope * np.array(sign)
            points[-1, :-1] = points[:-1, -1] = leaning * variances[:-1]
        whole = np.block([[np.ones((1, 1)), means[None]], [means[:, None], points]])
        whole[1:, 1:] += np.outer(means, means)
        numbers = np.array([whole[place] for place in pairs(columns)])
        share = float(np.prod(shares[list(places)] / 2)) / 2 ** len(sign)
        cases.append((share, numbers, variances))
    return cases


def nearest(shares: Numbers) -> tuple[int, ...]:
    chosen = np.rint(8 * (shares / shares.max()) ** 0.25).astype(int)
    return tuple(int(each) for each in chosen // np.gcd.reduce(chosen))


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_moments_are_weighted_for_variances_and_covariances(columns: int) -> None:
    found = np.zeros((columns * (columns + 1) // 2, len(pairs(columns))))
    for share, numbers, _ in typical(columns, None):
        found += share * squares(spreads, numbers, columns)
    relative = (found / found.sum(axis=1, keepdims=True)).sum(axis=0)
    assert weights_of(moments_of(columns)) == nearest(relative)


@pytest.mark.parametrize("predictors", [1, 2, 3])
def test_regressions_are_weighted_for_coefficients_and_the_outcomes_square_least(
    predictors: int,
) -> None:
    columns = predictors + 1
    found = np.zeros(len(pairs(columns)))
    for share, numbers, variances in typical(columns, (1 / (3 * predictors)) ** 0.5):
        own = squares(slopes, numbers, columns) * np.square(variances[:-1])[:, None]
        found += share * own.sum(axis=0)
    assert found[-1] < 1e-9
    *others, last = weights_of(regression_of(predictors))
    assert tuple(others) == nearest(found[:-1])
    assert last == 2


@pytest.mark.parametrize("columns", range(1, MOST_FACTORS + 1))
def test_no_square_has_a_larger_weight_than_its_sum(columns: int) -> None:
    """So the bound of two units is reached (``products``)."""
    for of in (moments_of(columns), regression_of(columns - 1) if columns > 1 else None):
        if of is not None:
            own = dict(zip(pairs(columns), weights_of(of), strict=True))
            assert all(own[place, place] <= own[0, place] for place in range(1, columns + 1))


def test_what_has_equal_weights_is_the_statistic_that_it_was() -> None:
    """Earlier versions had no others: their texts, hashes and sensitivities stay."""
    for aggregate in (BOTH, SLOPE):
        equal = prepared({**aggregate, "weights": "equal"})
        ones = {**aggregate, "weights": dict.fromkeys(_labels(aggregate), 3)}
        noisy = prepared(aggregate, mechanism="generalized_gaussian:4")
        assert equal.sensitivity.l2_squared == 6
        assert prepared(ones).canonical_hash == equal.canonical_hash
        assert prepared(ones).sensitivity == equal.sensitivity == noisy.sensitivity
        assert prepared(aggregate).canonical_hash != equal.canonical_hash
    of_one = {**BOTH, "order": 1}
    assert (
        prepared(of_one).canonical_hash == prepared({**of_one, "weights": "equal"}).canonical_hash
    )
    assert "weights" not in Moments(type="moments", columns=("x0",)).model_dump()


def _labels(aggregate: dict[str, Any]) -> tuple[str, ...]:
    return labels_of(["x0", "x1"], aggregate.get("order", 2))


def test_the_same_weights_of_columns_in_another_order_are_the_same_statistic() -> None:
    own = {"n": 3, "sum:x0": 5, "sum:x1": 4, "sum:x0,x0": 2, "sum:x0,x1": 7, "sum:x1,x1": 1}
    turned = {**own, "sum:x1,x0": own["sum:x0,x1"]}
    del turned["sum:x0,x1"]
    first = prepared({**BOTH, "weights": own})
    second = prepared({"type": "moments", "columns": ["x1", "x0"], "weights": turned})
    other = prepared({**BOTH, "weights": {**own, "sum:x0": 4, "sum:x1": 5}})
    assert first.canonical_hash == second.canonical_hash != other.canonical_hash
    assert first.sensitivity == second.sensitivity
    assert first.sensitivity.l2_squared == sum(weight**2 for weight in own.values())
    assert first.sensitivity.linf == 7


def test_the_weights_that_are_chosen_are_those_of_the_stored_spec() -> None:
    for aggregate in (BOTH, SLOPE):
        stored = prepared(aggregate).moments
        assert stored is not None
        assert stored.weights is not None
        again = prepared(stored.model_dump(mode="json"))
        assert again.canonical_hash == prepared(aggregate).canonical_hash
        assert again.moments == stored


def test_a_larger_weight_leaves_less_room_for_the_grid() -> None:
    of = Moments(type="moments", columns=("x0",))
    grids = []
    for weight in (1, 64):
        own = {"n": 1, "sum:x0": weight, "sum:x0,x0": 1}
        settled = planned(dataset(), of.model_copy(update={"weights": own}), 1)
        grids.append(settled.grid)
    assert (grids[0] or 0) == 8 * (grids[1] or 0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"n": 1, "sum:x0": 2}, "sum:x1 has none"),
        (dict.fromkeys([*labels_of(["x0", "x1"]), "mean:x0"], 1), "mean:x0 is none of them"),
    ],
)
def test_weights_of_other_numbers_are_refused(weights: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as refused:
        interpret(dataset(), query_of({**BOTH, "weights": weights}))
    assert refused.value.errors[0][0] == "/aggregate/weights"


@pytest.mark.parametrize("weight", [0, -1, 65, 1.5, True, "2"])
def test_a_weight_is_a_small_whole_number(weight: object) -> None:
    with pytest.raises(ValidationError):
        query_of({**BOTH, "weights": dict.fromkeys(labels_of(["x0", "x1"]), weight)})
