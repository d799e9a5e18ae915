"""Test previews as charts: margins by tier, budgets with the query, keys and steps."""

from dataclasses import replace
from urllib.parse import parse_qs

from tests.web.service_views import (
    budget,
    error,
    histogram,
    level,
    preview,
    tier_budget,
    tier_preview,
)

from penstock.services.schemas.previews import ChargeView, RankErrorView, RoomView
from penstock.services.schemas.stream_previews import (
    StepErrorView,
    StreamNoiseView,
    StreamPreviewTierView,
    StreamPreviewView,
)
from penstock.services.schemas.views import SensitivityView
from penstock.web.presenters import preview_choices
from penstock.web.presenters.preview_charts import charts_of_query, charts_of_stream

BUDGET = budget(tier_budget("public", 1.0), tier_budget("internal", 4.0, stays=0.5))
PREVIEW = preview(tier_preview("public", 40.0, 0.1), tier_preview("internal", 8.0, 0.25))
TIER = StreamPreviewTierView(
    "public",
    *level(1.0),
    ChargeView(8.0, 0.1, 0.0, 0.1),
    error(40.0),
    10.0,
    [StepErrorView(1, error(12.0)), StepErrorView(1000, error(40.0))],
    RoomView(fits=True, needed_share=0.1, remaining_share=1.0, largest_share=1.0),
)
STREAM = StreamPreviewView(
    stream="arrivals",
    dataset="sites",
    dataset_version=1,
    mechanism="gaussian",
    structure={"kind": "kary", "k": 2},
    length=1000,
    dimension=1,
    max_steps_per_unit=1,
    granularity=1.0,
    sensitivity=SensitivityView(1, 1, 1),
    judged_steps=1000,
    noisiest_step=1000,
    refusal=None,
    tiers=[TIER],
    structures=[],
    noises=[],
)


def test_each_tier_has_its_margin_and_its_share_of_the_budget() -> None:
    shown = charts_of_query(PREVIEW, BUDGET)
    assert [row[0] for row in shown.errors.table.rows] == ["public", "internal"]
    assert "40" in " ".join(shown.errors.table.rows[0])
    assert shown.budgets is not None
    assert ("visits", "25%", "10%") in shown.budgets.table.rows
    assert (shown.keys, shown.steps, shown.comparisons) == (None, None, ())


def test_a_preview_without_a_tier_speaks_of_levels_and_not_of_releases() -> None:
    drawn = charts_of_query(preview(), BUDGET).errors.drawn
    assert "No tier that you see has a level." in drawn
    assert "released" not in drawn


def test_of_quantiles_the_margins_are_those_of_ranks() -> None:
    ranks = [RankErrorView(0.25, error(30.0)), RankErrorView(0.5, error(26.0))]
    quantiles = replace(PREVIEW, tiers=[replace(tier, ranks=ranks) for tier in PREVIEW.tiers])
    shown = charts_of_query(quantiles, BUDGET)
    assert shown.ranks is not None
    assert shown.ranks.head == ("tier", "quantile 0.25", "quantile 0.5")
    assert shown.ranks.rows == (("public", "±30", "±26"), ("internal", "±30", "±26"))
    assert all("26" in " ".join(row) for row in shown.errors.table.rows)
    assert charts_of_query(PREVIEW, BUDGET).ranks is None


def test_a_refused_query_has_no_picture_of_budgets() -> None:
    assert charts_of_query(replace(PREVIEW, refusal="Too little is left."), BUDGET).budgets is None
    assert charts_of_stream(replace(STREAM, refusal="Too little is left."), BUDGET).budgets is None


def test_a_registered_query_is_not_charged_again() -> None:
    shown = charts_of_query(replace(PREVIEW, registered=True), BUDGET)
    assert shown.budgets is not None
    assert "visits" not in [row[0] for row in shown.budgets.table.rows]


def test_keys_of_a_sparse_histogram_are_told_from_the_first_count_that_is_likely() -> None:
    chances = histogram((10, 0.1), (41, 0.5), (80, 0.98), (1200, 0.99))
    tier = tier_preview("public", 40.0, 0.1, chances)
    keys = charts_of_query(preview(tier), BUDGET).keys
    assert keys is not None
    assert keys.rows == (("public", "40.5", "0.25", "41", "1,200"),)
    unlikely = tier_preview("public", 40.0, 0.1, histogram((10, 0.1)))
    beyond = charts_of_query(preview(unlikely), BUDGET).keys
    assert beyond is not None
    assert not any(cell.isdigit() for cell in beyond.rows[0][3:])


def test_a_streams_margin_is_told_by_step() -> None:
    shown = charts_of_stream(STREAM, BUDGET)
    assert shown.steps is not None
    assert shown.steps.rows == (("1", "±12"), ("1,000", "±40"))
    nobody = charts_of_stream(replace(STREAM, tiers=[]), BUDGET)
    assert nobody.steps is not None
    assert nobody.steps.rows == ()


def test_of_two_laplace_trees_each_button_sends_what_opens_it() -> None:
    """A tree that subtracts is only opened by ``auto``, so that it has no button beside it."""
    subtracting = {"kind": "kary", "k": 12, "subtracting": True}
    adding = {"kind": "kary", "k": 9, "subtracting": False}
    binary = {"kind": "kary", "k": 2, "subtracting": False}
    smooth = {"kind": "smooth_binary", "height": 9, "zeros": 4}
    for best, other, sent in (
        (subtracting, adding, {"mechanism": ["laplace"], "structure": ["kary"], "k": ["9"]}),
        (subtracting, binary, {"mechanism": ["laplace"], "structure": ["binary"], "k": [""]}),
        (
            subtracting,
            smooth,
            {"mechanism": ["laplace"], "structure": ["smooth_binary"], "k": [""]},
        ),
        (adding, subtracting, {}),
    ):
        noises = [
            StreamNoiseView("laplace", each, chosen=each is best, refusal=None, errors=[])
            for each in (best, other)
        ]
        shown = preview_choices.noises(replace(STREAM, noises=noises))
        first, second = shown.choices
        assert first.chosen
        assert parse_qs(first.take)["structure"] == ["auto"]
        assert parse_qs(second.take, keep_blank_values=True) == sent
        for choice, structure in ((first, best), (second, other)):
            assert choice.name.endswith("with differences") == bool(structure.get("subtracting"))
