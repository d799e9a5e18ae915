"""Test counts that come with the size of their population, which is off by more than they are."""

from statistics import NormalDist
from typing import Any

import pytest
from tests.client.servers.answers import ERROR, RELEASE

from penstock_client import ErrorBars, ProtocolError, Release, ValueErrors
from penstock_client._http.fields import Fields
from penstock_client._show.notebook import page

ERRORS: dict[str, Any] = {
    "standard_deviations": [45.03, 45.03, 52.0],
    "half_widths": [88.26, 88.26, 101.92],
}
ANSWER = {
    **RELEASE,
    "keys": ["old", "ill", "all"],
    "values": [400.0, 30.0, 1000.0],
    "errors": ERRORS,
}


@pytest.fixture
def counts() -> Release:
    return Release.read(Fields(ANSWER, "release"))


def test_each_value_has_an_interval_of_its_own_width(counts: Release) -> None:
    assert isinstance(counts.errors, ValueErrors)
    assert list(counts.errors)[2] == ErrorBars(52.0, 0.95, 101.92)
    interval = counts.interval()
    assert list(interval) == [(311.74, 488.26), (-58.260000000000005, 118.26), (898.08, 1101.92)]
    assert interval.half_width == ERROR["half_width"]


def test_at_another_confidence_widths_are_those_of_the_normal_law(counts: Release) -> None:
    interval = counts.interval(0.5)
    quartile = NormalDist().inv_cdf(0.75)
    assert interval.upper == pytest.approx(
        [400 + 45.03 * quartile, 30 + 45.03 * quartile, 1000 + 52 * quartile]
    )


def test_frames_and_notebooks_have_the_interval_of_each_value(counts: Release) -> None:
    assert counts.to_pandas()["upper"].tolist() == [488.26, 118.26, 1101.92]
    assert "errors" not in str(counts.to_arrow().schema.metadata)
    assert ">1,102<" in page(counts)


@pytest.mark.parametrize("part", ["standard_deviations", "half_widths"])
@pytest.mark.parametrize("wrong", [[1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, "2"]])
def test_errors_that_fit_no_values_are_refused(part: str, wrong: list[object]) -> None:
    with pytest.raises(ProtocolError):
        Release.read(Fields({**ANSWER, "errors": {**ERRORS, part: wrong}}, "release"))
