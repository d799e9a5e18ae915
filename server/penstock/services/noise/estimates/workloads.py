"""Compute the answers of a workload from the released values of its strategy alone.

It is post-processing: a release is not needed again, nor are the data.
"""

from statistics import NormalDist

import numpy as np

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.services.noise.estimates.products import Numbers
from penstock.services.noise.estimates.reading import NOISE
from penstock.services.schemas.estimates.covariance import AnswersCovarianceView
from penstock.services.schemas.views import ErrorView, EstimateView
from penstock.structures.factorization.kronecker import Workload

NAME = "answer"

MOST_QUERIES = 256
"""The most queries of a column whose covariance is stated: a matrix of 65,536 numbers."""


def answers_of(
    keys: WorkloadKeys, workload: Workload, values: Numbers, error: ErrorView
) -> list[EstimateView]:
    """Return the answers with their intervals, in the order of the keys of ``keys.answers``.

    ``values`` are those of the nodes, ``error`` that of each of them.
    """
    normal = NormalDist().inv_cdf((1 + error.confidence) / 2)
    ratio = max(normal, error.half_width / error.standard_deviation)
    answers = workload.answers(np.asarray(values, dtype=np.float64))
    deviations = error.standard_deviation * np.sqrt(workload.variances)
    numbers = zip(
        keys.answers,
        answers.tolist(),
        (answers - ratio * deviations).tolist(),
        (answers + ratio * deviations).tolist(),
        deviations.tolist(),
        strict=True,
    )
    return [EstimateView(NAME, *each, NOISE) for each in numbers]


def covariance_of(
    keys: WorkloadKeys, workload: Workload, error: ErrorView
) -> AnswersCovarianceView | None:
    """Return the joint covariance of the answers; None if they share no noise.

    ``error`` is that of each node.
    """
    if not any(factor.shares_noise for factor in workload.factors):
        return None
    variance = error.standard_deviation**2
    for name, factor in zip(keys.names, workload.factors, strict=True):
        if factor.queries.count > MOST_QUERIES:
            return AnswersCovarianceView(
                variance,
                None,
                f"The column {name} has {factor.queries.count:,} queries, and covariances are"
                f" stated for {MOST_QUERIES} at most. Combine the values instead, whose noise is"
                " independent, or register fewer queries, which the same strategy answers.",
            )
    return AnswersCovarianceView(
        variance, [factor.covariance.tolist() for factor in workload.factors]
    )
