"""Compute the answers of a workload from the released values of its strategy alone.

It is post-processing: a release is not needed again, nor are the data.
"""

from statistics import NormalDist

import numpy as np

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.services.noise.estimates.products import Numbers
from penstock.services.noise.estimates.reading import NOISE
from penstock.services.schemas.views import ErrorView, EstimateView
from penstock.structures.factorization.kronecker import Workload

NAME = "answer"


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
