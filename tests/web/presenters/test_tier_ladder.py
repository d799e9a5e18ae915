"""Test tiers with their holders as a chart: a move is shown where somebody would go."""

from dataclasses import replace

from penstock.services.previews.clearance_preview import (
    ClearancePreviewView,
    LadderView,
    TierHoldersView,
)
from penstock.web.presenters.tier_ladder import shown

LADDER = LadderView(
    [
        TierHoldersView("public", 10, "all", ["ann"], 0),
        TierHoldersView("internal", 20, "", ["ian"], 0),
    ],
    [],
)
MOVE = ClearancePreviewView(
    user="ann",
    active=True,
    analyst=True,
    source="public",
    target="internal",
    upward=True,
    sights=[],
    unchanged=0,
    highest="internal",
    highest_before="public",
    peers=["ian"],
    nearer=[],
    farther=[],
)


def disabled(count: int) -> LadderView:
    """Return the ladder with so many disabled holders."""
    return replace(LADDER, tiers=[LADDER.tiers[0], replace(LADDER.tiers[1], shut_out=count)])


def test_the_most_trusted_tier_is_on_top() -> None:
    assert [row[0] for row in shown(LADDER, "Tiers").table.rows] == ["internal", "public"]


def test_a_move_adds_a_column_and_a_clearance_that_stays_none() -> None:
    assert [row[-1] for row in shown(LADDER, "t", MOVE).table.rows] == ["ian, ann", "nobody"]
    stays = replace(MOVE, source="internal")
    assert shown(LADDER, "t", stays).table == shown(LADDER, "t").table


def test_disabled_holders_are_counted_in_a_remark() -> None:
    assert shown(LADDER, "t").remark == ""
    remarks = [shown(disabled(count), "t").remark for count in (1, 2)]
    assert all(remarks)
    assert remarks[0] != remarks[1]
    assert "2" in remarks[1]
