"""Test which releases have answers that quantities are computed from."""

from dataclasses import replace

import pytest

from penstock_client import CovarianceUnknown, Estimate, InvalidArgument, Release
from penstock_client.derived import answers, combination, total

ALL = Estimate("answer", "all", 7.0, 1.0, 13.0, 3.0, "noise")
PART = Estimate("answer", "part", 4.0, 2.0, 6.0, 1.0, "noise")
FACTORS = [[[9.0, 2.0], [2.0, 1.0]]]


def of(release: Release, stated: object) -> Release:
    answer = {"answers_covariance": stated, "covariance": None}
    return replace(release, estimates=(ALL, PART), answer=answer)


def test_answers_are_values_with_an_error_of_their_own(release: Release) -> None:
    shown = answers(of(release, {"variance": 1.0, "factors": FACTORS, "omitted": None}))
    assert (shown.keys, shown.values) == (("all", "part"), (7.0, 4.0))
    assert (shown.error.standard_deviation, shown.error.half_width) == (3.0, 6.0)
    found = combination(shown, {"all": 1, "part": -1})
    assert found.standard_deviation == pytest.approx((9 + 1 - 4) ** 0.5)
    assert shown.interval().lower == (1.0, 2.0)
    with pytest.raises(InvalidArgument, match="not parts of one whole"):
        total(shown)


def test_answers_that_share_no_noise_are_independent(release: Release) -> None:
    found = combination(answers(of(release, None)), {"all": 1, "part": 1})
    assert found.standard_deviation == pytest.approx(10**0.5)


def test_answers_whose_covariance_is_not_stated_are_refused(release: Release) -> None:
    omitted = {"variance": 1.0, "factors": None, "omitted": "The column age has 300 queries."}
    with pytest.raises(CovarianceUnknown, match="The column age has 300 queries"):
        answers(of(release, omitted))
    with pytest.raises(CovarianceUnknown, match="combine the values themselves"):
        answers(replace(release, estimates=(ALL,)))


def test_releases_of_other_queries_have_no_answers(release: Release) -> None:
    moments = Estimate("mean:age", None, 4.0, 2.0, 6.0, 1.0, "noise")
    for estimates in ((), (moments,)):
        with pytest.raises(InvalidArgument, match="no answers of a workload"):
            answers(replace(release, estimates=estimates))
