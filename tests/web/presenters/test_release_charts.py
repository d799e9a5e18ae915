"""Test which releases are drawn and listed, and what they are called."""

from dataclasses import replace

import numpy as np
import pytest
from tests.web.service_views import listed, release, sparse

from penstock.errors import InvalidInput
from penstock.services.schemas.estimates.quantiles import BinnedCountsView, DistributionView
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.schemas.views import EstimateView, Key, PartView, ReleaseView
from penstock.services.schemas.wordings.wordings import StatisticWordingView
from penstock.web.charts.results.releases import MOST_KEYS
from penstock.web.presenters.release_charts import (
    LOOKS,
    MOST_CHOSEN,
    group_in,
    groups_of,
    level_request,
    look_in,
    names_of,
    release_picture,
    selected,
    shown_releases,
)


def test_of_very_many_levels_no_more_are_drawn_than_can_be_told_apart() -> None:
    ids = [str(number) for number in range(100)]
    drawn, listed = selected(ids, ids, 5)
    assert drawn == ids[:MOST_CHOSEN]
    drawn, listed = selected(ids, ["97", "3"], 5)
    assert drawn == ["3", "97"]
    assert {"3", "97"} < {*listed}
    assert 38 <= len(listed) <= 40
    assert len(selected(ids, [], 10**9)[1]) < 20
    assert selected([], ["1"], 3) == ([], [])


def test_releases_of_one_tier_are_told_apart_by_epsilon() -> None:
    items = [release("a", "public", 0.1, [1.0]), release("b", "internal", 1.0, [1.0])]
    assert names_of(items) == {"a": "public", "b": "internal"}
    items.append(release("c", "public", 0.05, [1.0]))
    assert names_of(items) == {"a": "ε 0.1, public", "b": "internal", "c": "ε 0.05, public"}


def test_the_picture_has_what_was_chosen_and_the_table_all() -> None:
    views = [release("a", "internal", 1.0, [7.0, 3.0]), release("b", "public", 0.5, [9.0, 1.0])]
    shown = shown_releases([listed(view) for view in views], views, {"b"}, "visits")
    assert shown is not None
    assert (shown.drawn, shown.single) == (frozenset({"b"}), False)
    assert len(shown.picture.table.head) == 1 + 2 * 3
    assert "1 of your 2" in shown.picture.remark
    assert shown.picture.message == "visits for public: from 1 ± 4 (k1) to 9 ± 4 (k0)"
    assert shown.picture.table.caption == "visits"
    assert shown_releases([listed(view) for view in views], [], {"b"}, "visits") is None


def test_of_a_sparse_histogram_one_release_is_drawn_with_its_largest_values_first() -> None:
    views = [sparse(release(name, name, 1.0, [7.0, 30.0, 3.0])) for name in ("a", "b")]
    shown = shown_releases([listed(view) for view in views], views, {"a", "b"}, "books")
    assert shown is not None
    assert (shown.drawn, shown.single) == (frozenset({"a"}), True)
    assert [row[0] for row in shown.picture.table.rows] == ["k1", "k0", "k2"]


def test_a_page_has_no_more_than_its_keys() -> None:
    picture = release_picture(release("a", "public", 1.0, [0.0] * (MOST_KEYS + 5)), "visits")
    assert len(picture.table.rows) == MOST_KEYS


@pytest.mark.parametrize(
    ("given", "request_"),
    [
        ({}, ReleaseRequest()),
        ({"tier": " public ", "epsilon": ""}, ReleaseRequest(tier="public")),
        ({"epsilon": "0.25"}, ReleaseRequest(epsilon=0.25)),
    ],
)
def test_a_form_asks_for_a_tier_an_epsilon_or_ones_own(
    given: dict[str, str], request_: ReleaseRequest
) -> None:
    assert level_request(given) == request_


@pytest.mark.parametrize(
    "given",
    [{"tier": "public", "epsilon": "1"}]
    + [{"epsilon": text} for text in ("0", "-1", "nan", "inf", "x", "1" * 41, "\u0661")],
)
def test_an_epsilon_that_cannot_be_meant_is_refused_at_its_field(given: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        level_request(given)
    assert refusal.value.errors[0][0] == "/epsilon"


def ages_by_ward() -> ReleaseView:
    """Return quantiles of two groups, of which noise hides the second."""
    shares = np.array([0.5, 1.0])
    clear = EstimateView("quantile:0.5", ["a", "2026"], 10.0, 5.0, 15.0, 2.0, "noise")
    unclear = EstimateView("quantile:0.5", ["b", "2026"], None, None, None, None, "noise")
    return replace(
        release("r", "public", 1.0, [7.0, 3.0]),
        quantiles=BinnedCountsView([0.0, 10.0, 20.0], [0.5], 20.0, whole=False, rows_per_unit=1),
        estimates=[clear, unclear],
        distributions=[
            DistributionView(["a", "2026"], shares, shares, shares),
            DistributionView(["b", "2026"], None, None, None),
        ],
    )


def test_titles_units_and_labels_that_people_wrote_are_in_the_chart() -> None:
    labels = {"k0": "North", "a": "Aston"}
    wording = StatisticWordingView(title="Visits by town", unit="days", shown_labels=labels)
    views = [release("a", "internal", 1.0, [7.0, 3.0])]
    shown = shown_releases([listed(views[0])], views, (), "visits", wording)
    assert shown is not None
    expected = "Visits by town for internal: from 3 ± 2 (k1) to 7 ± 2 (North)"
    assert shown.picture.message == expected
    assert [row[0] for row in shown.picture.table.rows] == ["North (k0)", "k1"]
    ranking = release_picture(sparse(views[0]), "visits", wording=wording)
    assert [row[0] for row in ranking.table.rows] == ["North (k0)", "k1"]
    assert "Days, with 95% confidence intervals" in shown.picture.drawn
    assert groups_of(ages_by_ward(), wording) == ["Aston, 2026", "b, 2026"]
    of_ages = release_picture(ages_by_ward(), "ages", wording=wording)
    assert of_ages.message.startswith("Visits by town, Aston, 2026 for public: half are below")


def test_of_quantiles_the_distribution_of_the_chosen_group_is_drawn() -> None:
    view = ages_by_ward()
    assert groups_of(view) == ["a, 2026", "b, 2026"]
    first = release_picture(view, "ages")
    assert [row[0] for row in first.table.rows] == ["quantile 0.5"]
    assert first.table.caption == "ages, a, 2026"
    assert first.message == f"{view.query}, a, 2026 for public: half are below 10 ± 5"
    assert f">{first.message}</title>" in first.drawn
    second = release_picture(view, "ages", group_in("2", view))
    assert "too large for a distribution function" in second.drawn
    assert second.table.rows == ()
    assert groups_of(release("r", "public", 1.0, [7.0])) == []


@pytest.mark.parametrize("text", ["0", "3", "-1", "x", "1.0", "9" * 50, "\u0661"])
def test_a_group_that_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="from 1 to 2"):
        group_in(text, ages_by_ward())


def test_two_keys_are_crossed_unless_only_some_values_are_here() -> None:
    keys: list[Key] = [[plan, year] for plan in ("free", "basic") for year in ("1", "2", "3")]
    made = replace(release("r", "internal", 1.0, [1.0, 50.0, 90.0, 9.0, 8.0, 7.0]), keys=keys)
    whole = release_picture(made, "t")
    assert "of 2 lines 1 rises beyond the margins: free from" in whole.message
    assert whole.looks == LOOKS
    part = release_picture(replace(made, part=PartView(0, 5, 25)), "t", look="map")
    assert part.message.startswith("visits for internal: from 1")
    assert part.looks == ()


def test_a_way_to_draw_that_there_is_not_is_refused() -> None:
    assert [look_in(look) for look in LOOKS] == ["", "map", "margins"]
    with pytest.raises(InvalidInput, match="shown as map"):
        look_in("loud")
