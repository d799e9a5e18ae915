"""Test releases: their intervals, their frames and their text."""

import dataclasses

import pytest

from penstock_client import InvalidArgument, Release
from penstock_client._values.interval import AS_STATED


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


def test_a_release_of_anything_else_has_no_parts(release: Release) -> None:
    assert release.mean is None
    assert "count" not in release.to_pandas()


def test_a_release_says_in_one_line_what_it_is(release: Release) -> None:
    assert repr(release) == (
        "<Release of 'flights_by_carrier' at 'partner': 2 values, ±88.3 at 95%,"
        " epsilon 0.629, delta 1e-06>"
    )


def test_it_does_not_claim_more_than_one_value(release: Release) -> None:
    single = dataclasses.replace(release, keys=("AA",), values=(1.0,))
    assert "1 value," in repr(single)
    pure = dataclasses.replace(single.guarantee, definition="pure", delta=0.0, epsilon=None)
    assert repr(dataclasses.replace(single, guarantee=pure)).endswith("epsilon ∞>")


def test_a_release_gives_an_end_on_each_side_of_each_value(release: Release) -> None:
    interval = release.interval()
    assert list(interval) == [(31987.5 - 88.26, 31987.5 + 88.26), (-88.26, 88.26)]
    assert (len(interval), interval.law) == (2, AS_STATED)
    assert release.interval(0.5).half_width == pytest.approx(0.674489750 * 45.03)


def test_labels_stand_beside_keys_in_frames_and_notebooks(release: Release) -> None:
    first, second = map(str, release.keys)
    labeled = release.with_labels({first: "American <Airlines>"})
    assert labeled == release
    frame = labeled.to_pandas()
    assert frame.drop(columns="label").equals(release.to_pandas())
    assert frame.columns[-1] == "label"
    assert frame["label"].tolist() == ["American <Airlines>", second]
    assert labeled.to_polars().columns == [*release.to_polars().columns, "label"]
    assert labeled.to_arrow().column_names == [*release.to_arrow().column_names, "label"]
    assert labeled.labels() == [f"American <Airlines> ({first})", second]
    assert f"American &lt;Airlines&gt; ({first})" in labeled._repr_html_()
    assert "label" not in release.to_pandas()


def test_each_part_of_a_key_has_its_label(release: Release) -> None:
    paired = dataclasses.replace(release, keys=(("a", "1"), ("b", "1")))
    labeled = paired.with_labels({"a": "North", "1": "Winter"})
    frame = labeled.to_pandas()
    assert frame["label_1"].tolist() == ["North", "b"]
    assert frame["label_2"].tolist() == ["Winter", "Winter"]
    assert labeled.labels() == ["North · Winter (a · 1)", "b · Winter (b · 1)"]
