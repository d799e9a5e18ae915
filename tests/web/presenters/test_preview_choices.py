"""Test comparisons of a preview: which choice is marked, and what its button sends."""

from dataclasses import replace
from urllib.parse import parse_qs

from tests.web.service_views import error, preview, tier_preview
from werkzeug.datastructures import MultiDict

from penstock.services.schemas.previews import (
    CountErrorView,
    CountStructureView,
    PowersView,
    PowerView,
    StrategyErrorView,
    StrategyView,
)
from penstock.web.presenters import preview_choices

PREVIEW = preview(tier_preview("public", 40.0, 0.1), tier_preview("internal", 8.0, 0.25))


def structure(
    name: str | None, trade_off: float | None = None, *, known_size: bool = False
) -> CountStructureView:
    """Return a way to protect counts, which is asked for where it is no structure."""
    tiers = [CountErrorView("public", error(40.0), error(7.0) if name else None)]
    return CountStructureView(
        name, trade_off, known_size, asked=name is None, dimension=12, lossless=True, tiers=tiers
    )


def test_the_pressed_choice_changes_its_fields_and_leaves_the_others() -> None:
    given = MultiDict([("take", "mechanism=laplace&k="), ("k", "4"), ("name", "visits")])
    changed = preview_choices.with_taken(given)
    assert dict(changed.items()) == {"k": "", "name": "visits", "mechanism": "laplace"}
    assert given["take"]
    plain = MultiDict([("name", "visits")])
    assert preview_choices.with_taken(plain) == plain


def test_a_comparison_that_was_written_down_is_read_as_it_was() -> None:
    comparison = preview_choices.mechanisms([("gaussian", PREVIEW), ("laplace", "No.")], "gaussian")
    assert preview_choices.read(preview_choices.written(comparison)) == comparison


def test_noise_that_is_refused_cannot_be_taken() -> None:
    gaussian, laplace = preview_choices.mechanisms(
        [("gaussian", PREVIEW), ("laplace", "Not here.")], "gaussian"
    ).choices
    assert (gaussian.chosen, gaussian.cells) == (True, ("±40", "10%", "±8", "25%"))
    assert parse_qs(gaussian.take) == {"mechanism": ["gaussian"]}
    assert (laplace.chosen, laplace.cells, laplace.take) == (False, ("Not here.",), "")


def test_the_advised_power_is_marked_and_laplace_stands_for_power_one() -> None:
    view = PowersView("public", 0.5, 2.0, "why", [PowerView(1.0, 9.0), PowerView(2.0, 8.0)])
    laplace = preview_choices.powers(view, replace(PREVIEW, mechanism="laplace"))
    assert [choice.chosen for choice in laplace.choices] == [True, False]
    assert [choice.name for choice in laplace.choices] == ["p = 1", "p = 2 (recommended)"]
    assert laplace.choices[1].take == "p=2"
    assert [choice.chosen for choice in preview_choices.powers(view, PREVIEW).choices] == [
        False,
        True,
    ]


def test_counts_protected_together_are_taken_with_their_trade_off() -> None:
    views = [structure(None), structure("correlated", 0.5), structure("correlated")]
    alone, together, least = preview_choices.structures(views).choices
    assert parse_qs(alone.take) == {"kind": ["statistic"]}
    fields = parse_qs(together.take, keep_blank_values=True)
    empty = {"trade_off": [""], "known_size": [""], "release_size": [""]}
    assert fields == {**empty, "kind": ["counts"], "trade_off": ["0.5"]}
    fields = parse_qs(least.take, keep_blank_values=True)
    assert fields == {**empty, "kind": ["counts"], "release_size": ["false"]}
    assert least.name == "together, without the size"
    assert (alone.chosen, together.chosen) == (True, False)
    assert together.cells == ("±40", "±7", "12")


def test_a_public_size_has_to_be_typed_and_cannot_be_taken() -> None:
    (known,) = preview_choices.structures([structure("correlated", known_size=True)]).choices
    assert known.take == ""


def test_strategies_are_compared_by_their_worst_answers_and_can_be_taken_by_name() -> None:
    tiers = [StrategyErrorView("public", error(40.0), 6.5)]
    views = [
        StrategyView(None, requested=True, dimension=80, tiers=tiers),
        StrategyView("tree", requested=False, dimension=1084, tiers=tiers),
    ]
    comparison = preview_choices.strategies(views)
    own, tree = comparison.choices
    assert len(comparison.head) == len(own.cells)
    assert (own.name, own.chosen, own.take) == ("the strategy of the query", True, "")
    assert (tree.name, tree.chosen, tree.take) == ("tree", False, "strategy=tree&strategy_rows=")
    assert tree.cells == ("±40", "6.5", "1,084")
