"""Read the answers of a workload as values, which quantities are derived from like from others."""

from dataclasses import dataclass, fields

import numpy as np

from penstock.services.noise.estimates.workloads import NAME
from penstock.services.schemas.views import ErrorsView, ErrorView, EstimateView, Keys, ReleaseView


@dataclass(frozen=True)
class AnsweredView(ReleaseView):
    """Hold a release of a workload whose values are the answers, with ``answers_covariance``."""


def answered(release: ReleaseView) -> ReleaseView:
    """Return a release of a workload with its answers as values; any other one as it is.

    So is one whose answers have no stated covariance, because a column has too many queries.
    """
    shown = [(each, _numbers(each)) for each in release.estimates or () if each.name == NAME]
    stated = release.answers_covariance
    if not shown or (stated is not None and stated.factors is None):
        return release
    values, deviations, widths = np.array([numbers for _, numbers in shown]).T
    worst = int(deviations.argmax())
    given = {each.name: getattr(release, each.name) for each in fields(ReleaseView)}
    keys: Keys = [each.key for each, _ in shown if each.key is not None]
    own = {
        "keys": keys,
        "values": values,
        "error": ErrorView(deviations[worst], release.error.confidence, widths[worst]),
        "errors": ErrorsView(deviations, widths),
    }
    return AnsweredView(**{**given, **own})


def _numbers(answer: EstimateView) -> tuple[float, float, float]:
    """Return the value, the standard deviation and the margin of error of an answer."""
    value, upper, deviation = answer.value, answer.upper, answer.standard_deviation
    if value is None or upper is None or deviation is None:
        raise RuntimeError("an answer of a workload has all its numbers")
    return value, deviation, upper - value
