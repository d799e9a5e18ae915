"""Releases of means have an interval for each key, and what it was read from."""

import pytest
from tests.client._show.means import ANSWER, MEAN

from penstock_client import InvalidArgument, ProtocolError, Release
from penstock_client._http.fields import Fields
from penstock_client._show.notebook import page


@pytest.fixture
def means() -> Release:
    return Release.read(Fields(ANSWER, "release"))


def test_each_mean_has_an_interval_of_its_own(means: Release) -> None:
    assert means.mean is not None
    assert means.mean.counts == (2000.0, -1.5)
    interval = means.interval()
    assert list(interval) == [(39.5, 41.0), (0.0, 100.0)]
    assert interval.law == "as stated by the server"


def test_at_another_confidence_nothing_is_known(means: Release) -> None:
    with pytest.raises(InvalidArgument, match=r"interval\(0\.95\)"):
        means.interval(0.9)


def test_a_frame_has_the_counts_beside_the_means(means: Release) -> None:
    frame = means.to_pandas()
    assert frame["lower"].tolist() == [39.5, 0.0]
    assert frame["count"].tolist() == [2000.0, -1.5]


def test_a_notebook_shows_each_interval(means: Release) -> None:
    shown = page(means)
    assert ">41<" in shown
    assert ">100<" in shown


def test_parts_that_are_not_one_for_each_key_are_no_answer() -> None:
    for name in ("lower", "upper", "centered_sums", "counts"):
        with pytest.raises(ProtocolError, match=name):
            Release.read(Fields({**ANSWER, "mean": {**MEAN, name: [1.0]}}, "release"))


def test_a_release_of_anything_else_has_no_parts(release: Release) -> None:
    assert release.mean is None
    assert "count" not in release.to_pandas()
