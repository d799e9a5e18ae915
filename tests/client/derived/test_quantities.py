"""Test totals, differences, ratios and other quantities that are derived from releases."""

import copy
import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from penstock_client import (
    CovarianceUnknown,
    InvalidArgument,
    NestedNoise,
    Release,
    ValueErrors,
)
from penstock_client.derived import (
    combination,
    combined,
    difference,
    ratio,
    share,
    total,
)
from penstock_client.models import Part

DEVIATION = 45.03
NORMAL = 1.959963984540054


def released(release: Release, *values: float, **changes: Any) -> Release:
    """Return the release with other values, whose keys are the letters."""
    return replace(release, keys=tuple("abcdefgh"[: len(values)]), values=values, **changes)


def test_a_total_has_the_noise_of_all_its_values(release: Release) -> None:
    found = total(released(release, 100, 20, 3, 4))
    assert (found.value, found.confidence) == (127, 0.95)
    assert found.standard_deviation == pytest.approx(2 * DEVIATION)
    assert found.upper - found.value == pytest.approx(2 * NORMAL * DEVIATION)
    assert found.value - found.lower == pytest.approx(2 * NORMAL * DEVIATION)
    assert found.law == "exact for Gaussian noise"
    assert total(released(release, 100, 20, 3), ["a", "c"]).value == 103


def test_a_difference_is_a_combination_with_opposite_weights(release: Release) -> None:
    given = released(release, 100, 20)
    assert difference(given, "a", "b") == combination(given, {"a": 1, "b": -1})
    with pytest.raises(InvalidArgument, match="without any noise"):
        difference(given, "a", "a")


def test_one_value_keeps_the_interval_that_the_server_stated(release: Release) -> None:
    found = combination(released(release, 100, 20), {"a": 2, "b": 0})
    assert found.upper - found.value == pytest.approx(2 * 88.26)
    assert found.law == "as stated by the server"


def test_weights_may_be_a_series_and_what_comes_out_too(release: Release) -> None:
    weights = pd.Series({"a": 0.5, "b": 1.5})
    found = combination(released(release, 100, 20), weights)
    assert found.value == 80
    assert found.to_pandas()["lower"] == found.lower
    assert list(found.to_pandas().index) == [
        *("value", "standard_deviation", "lower", "upper", "confidence", "law")
    ]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"z": 1}, "no value for the key 'z'"),
        ({"a": 0}, "All weights"),
        ({"a": math.inf}, "finite"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(
    release: Release, weights: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        combination(released(release, 100, 20), weights)


def test_laplace_noise_takes_the_larger_quantile(release: Release) -> None:
    given = released(release, 100, 20, mechanism="laplace")
    found = difference(given, "a", "b")
    factor = (found.upper - found.value) / found.standard_deviation
    assert factor == pytest.approx(max(NORMAL, 88.26 / DEVIATION), rel=1e-5)
    assert found.law.startswith("conservative")


def test_a_ratio_is_fiellers(release: Release) -> None:
    found = ratio(released(release, 1000, 4000), "a", "b")
    assert found.value == 0.25
    for end in (found.lower, found.upper):
        reach = NORMAL * DEVIATION * math.hypot(1, end)
        assert abs(1000 - end * 4000) == pytest.approx(reach)
    assert found.law == "Fieller, exact for Gaussian noise"
    assert found.standard_deviation == pytest.approx(DEVIATION * math.hypot(1, 0.25) / 4000)


def test_a_ratio_knows_which_values_are_in_both_of_its_parts(release: Release) -> None:
    given = released(release, 1000, 4000)
    found = ratio(given, "a", {"a": 1, "b": 1})
    for end in (found.lower, found.upper):
        reach = NORMAL * DEVIATION * math.hypot(1 - end, end)
        assert abs(1000 - end * 5000) == pytest.approx(reach)
    assert share(given, "a") == found
    assert ratio(given, "a", "a").upper == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "within", "ends"),
    [
        ((100, 10), None, (-math.inf, math.inf)),  # a set of two parts
        ((1, 10), None, (-math.inf, math.inf)),  # every ratio is possible
        ((100, 10), (-1, 1), (-1, 1)),
        ((5000, 1000), (0, 1), (0, 1)),  # no ratio within is in the set
    ],
)
def test_a_ratio_of_which_nothing_is_known_is_everything(
    release: Release,
    values: tuple[float, float],
    within: tuple[float, float] | None,
    ends: tuple[float, float],
) -> None:
    found = ratio(released(release, *values), "a", "b", within=within)
    assert (found.lower, found.upper) == ends
    assert found.lower <= found.value <= found.upper
    assert ("may be 0" in found.law) == (values[1] == 10)


def test_a_part_of_the_set_that_is_within_is_kept(release: Release) -> None:
    found = ratio(released(release, 115, 70), "a", "b", within=(-1, 1))
    assert -1 < found.lower < found.value
    assert found.upper == 1
    mirrored = ratio(released(release, -115, 70), "a", "b", within=(-1, 1))
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-1, -found.lower))


def test_a_denominator_of_0_gives_no_number_that_is_not_one(release: Release) -> None:
    found = ratio(released(release, 5, 0), "a", "b")
    assert found.value == 0
    assert found.standard_deviation == math.inf
    with pytest.raises(InvalidArgument, match="below the largest"):
        ratio(released(release, 5, 0), "a", "b", within=(1, 1))


def test_releases_of_one_quantity_are_weighed_by_their_precision(release: Release) -> None:
    better = replace(release.error, standard_deviation=DEVIATION / 2, half_width=44.13)
    found = combined(
        [
            released(release, 100, 20),
            released(release, 200, 20, query="other", id="rel_2", error=better),
        ]
    )
    assert found.keys == ("a", "b")
    assert found["a"].value == pytest.approx(180)
    assert found["a"].standard_deviation == pytest.approx(DEVIATION / math.sqrt(5))
    assert found.to_pandas().loc["a", "value"] == found["a"].value
    assert len(found) == 2
    with pytest.raises(KeyError):
        found["z"]


def test_two_levels_of_one_query_are_not_averaged(release: Release) -> None:
    given = released(release, 100, 20)
    with pytest.raises(NestedNoise, match="levels of one noise path") as refusal:
        combined([given, replace(given, id="rel_2", tier="public")])
    assert refusal.value.tiers == ("partner", "public")
    assert isinstance(copy.copy(refusal.value), NestedNoise)
    with pytest.raises(NestedNoise):
        combined([given, given, replace(given, query="other")])
    drawn_apart = replace(given, mechanism="generalized_gaussian")
    assert len(combined([drawn_apart, replace(drawn_apart, id="rel_2")])) == 2
    with pytest.raises(NestedNoise):
        combined([drawn_apart, replace(drawn_apart)])


def test_quantities_without_keys_are_an_empty_frame(release: Release) -> None:
    empty = released(release)
    found = combined([empty, replace(empty, id="rel_2", query="other")])
    assert (len(found), len(found.to_pandas())) == (0, 0)
    assert "no keys" in found._repr_html_()


def test_releases_of_other_keys_are_not_combined(release: Release) -> None:
    with pytest.raises(InvalidArgument, match="different keys"):
        combined([released(release, 1, 2), released(release, 1, query="other")])
    with pytest.raises(InvalidArgument, match="At least two"):
        combined([release])


def test_noise_that_values_share_is_not_guessed(release: Release) -> None:
    errors = ValueErrors(0.95, (10.0, 20.0), (19.6, 39.2))
    given = released(release, 100, 20, errors=errors)
    with pytest.raises(CovarianceUnknown, match="does not state their"):
        total(given)
    with pytest.raises(CovarianceUnknown):
        ratio(given, "a", "b")
    assert combination(given, {"b": 1}).upper == pytest.approx(59.2)
    later = replace(given, answer={"covariance": {"later": {}}})
    with pytest.raises(CovarianceUnknown, match="or not so that this version knows it"):
        total(later)


def test_noise_that_values_share_counts_in_their_total(release: Release) -> None:
    stated = {"values_per_group": 2, "variance": 100.0, "covariance": -60.0}
    shared = {"grouped_counts": {**stated, "size_variance": None, "size_covariance": None}}
    given = released(release, 100, 20, answer={"covariance": shared})
    assert total(given).standard_deviation == pytest.approx(math.sqrt(80))
    assert difference(given, "a", "b").standard_deviation == pytest.approx(math.sqrt(320))
    part = replace(given, part=Part(4, 5, 10))
    assert total(part) == total(given)
    # From position 5 on the two counts are of two groups, which share nothing.
    assert total(replace(part, part=Part(5, 6, 10))).standard_deviation == pytest.approx(
        math.sqrt(200)
    )
    independent = ratio(replace(given, answer={"covariance": None}), "a", "b")
    assert ratio(given, "a", "b").standard_deviation != independent.standard_deviation


@pytest.mark.parametrize("kind", ["estimates", "marginals", "sizes"])
def test_values_that_are_no_parts_of_one_whole_are_added_by_name_alone(
    release: Release, kind: str
) -> None:
    given = released(release, 100, 20, 3)
    if kind == "sizes":
        grouped = {"values_per_group": 3, "variance": 4.0, "covariance": 1.0}
        sized = {**grouped, "size_variance": 6.0, "size_covariance": 2.0}
        answer = {**given.answer, "covariance": {"grouped_counts": sized, "marginals": None}}
        given = replace(given, answer=answer)
    else:
        parts: dict[str, Any] = {kind: (object(),)}
        given = replace(given, **parts)
    with pytest.raises(InvalidArgument, match="are not parts of one whole"):
        total(given)
    with pytest.raises(InvalidArgument, match="Name the keys to add up"):
        share(given, "a")
    if kind != "marginals":
        assert total(given, ["a", "b"]).value == 120


def test_means_are_not_combined(means: Release) -> None:
    with pytest.raises(InvalidArgument, match="means"):
        total(means)
