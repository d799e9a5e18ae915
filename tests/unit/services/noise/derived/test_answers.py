"""Test that quantities of a workload's answers have the covariance of the map from its sums."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from tests.unit.services.noise.derived.released import (
    DEVIATION,
    NORMAL,
    compare,
    read,
    release_of,
    workload,
)

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.services.noise.derived.answers import answered
from penstock.services.noise.derived.covariance import covariance_of, deviations_of
from penstock.services.noise.derived.quantities import combination, combined, ratio
from penstock.services.noise.estimates import workloads
from penstock.services.schemas.estimates.covariance import AnswersCovarianceView
from penstock.services.schemas.views import ErrorView
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Spans
from penstock_client.derived import answers
from penstock_client.derived import combination as combination_of
from penstock_client.derived import ratio as ratio_of


def test_answers_share_the_noise_of_the_sums() -> None:
    view, made = workload()
    columns = [made.answers(noise) for noise in DEVIATION * np.eye(made.dimension)]
    exact = np.array(columns).T @ np.array(columns)
    shown = answered(view)
    compare(covariance_of(shown), exact)
    assert np.sqrt(np.diag(exact)) == pytest.approx(deviations_of(shown))
    assert not np.allclose(exact, np.diag(np.diag(exact)))
    compare(covariance_of(view), np.eye(made.dimension) * DEVIATION**2)


def test_the_client_computes_the_same_from_answers() -> None:
    view, _ = workload()
    ours, theirs = answered(view), answers(read(view))
    assert len(theirs) == len(ours.values) == 8
    assert list(theirs.values) == pytest.approx(ours.values.tolist())
    first, second = np.zeros((2, 8))
    first[[1, 6]], second[3] = (1, -2), 1
    keys = theirs.keys
    weights = {keys[1]: 1, keys[6]: -2}
    sums = combination(ours, first), combination_of(theirs, weights)
    parts = ratio(ours, first, second), ratio_of(theirs, weights, keys[3])
    for own, other in (sums, parts):
        assert (own.value, own.lower, own.upper, own.standard_deviation) == pytest.approx(
            (other.value, other.lower, other.upper, other.standard_deviation)
        )


def test_two_releases_are_combined_answer_by_answer() -> None:
    view, _ = workload()
    first, second = answered(view), answered(replace(view, id="rel_2", query="again"))
    for both, deviation in zip(combined(first, second), deviations_of(first), strict=True):
        assert both.standard_deviation == pytest.approx(deviation / sqrt(2))


def test_other_releases_stay_as_they_are() -> None:
    view = release_of(1, 2, 3)
    assert answered(view) is view


def _stated(queries: str, strategy: str, keys: int) -> AnswersCovarianceView | None:
    made = Workload((Factor(Spans(queries, keys), Spans(strategy, keys)),))
    labels = (tuple(map(str, range(keys))),)
    error = ErrorView(DEVIATION, 0.95, NORMAL * DEVIATION)
    return workloads.covariance_of(WorkloadKeys(("age",), labels, made), made, error)


def test_answers_without_common_noise_state_no_covariance() -> None:
    assert _stated("identity", "identity", 300) is None
    assert _stated("total", "tree", 300) is None
    assert _stated("identity", "tree", 200) is not None


def test_a_column_of_many_queries_says_that_its_covariance_is_left_out() -> None:
    stated = workloads.covariance_of
    view, made = workload()
    keys = WorkloadKeys(("age", "ward"), (tuple("abcd"), tuple("xyz")), made)
    assert stated(keys, made, view.error) == view.answers_covariance
    many = _stated("all_ranges", "tree", 23)
    assert many is not None
    assert many.factors is None
    assert "276 queries" in str(many.omitted)
