"""Test that pieces of a budget are as wide as their shares, and which of them have a name."""

import pytest
from tests.web.charts.pictures import (
    SVG,
    parsed,
    sentences,
    straight,
    texts,
)

from penstock.errors import NotDrawable
from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.stacked import Budgets, Part, TierBudget, budget_bars, rows


def test_pieces_of_a_budget_are_as_wide_as_their_shares() -> None:
    parts = (Part("x", 0.5), Part("y", 0.25), Part("z", 0.05))
    svg = budget_bars(Budgets("t", (TierBudget("a", 1, parts),)), "p", WIDE)
    rects = [e for e in parsed(svg).iter(f"{SVG}rect") if e.get("class") == "piece"][:3]
    widths = [float(e.get("width", "")) for e in rects]
    straight([0, *widths], [0, 0.5, 0.25, 0.05])
    starts = [float(e.get("x", "")) for e in rects]
    ends = [start + width for start, width in zip(starts, widths, strict=True)]
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.2)


def many(tier: str, first: int, rest: float = 0.0) -> TierBudget:
    """Return a budget of which twenty queries took ever less, the first of them most."""
    shares = {(first + place) % 20: (20 - place) / 500 for place in range(20)}
    parts = tuple(Part(f"q{place}", share) for place, share in sorted(shares.items()))
    return TierBudget(tier, 1, parts, rest)


def test_the_eight_largest_spenders_of_each_tier_are_named_and_the_others_are_one() -> None:
    table = rows(Budgets("t", (many("a", 0), many("b", 10))))
    names = [row[0] for row in table.rows]
    assert set(names[:-2]) == {f"q{place}" for place in (*range(8), *range(10, 18))}
    assert names[-2:] == ["4 other queries", "left"]
    taken = sum(share for place, share in enumerate(range(20, 0, -1)) if place in (8, 9, 18, 19))
    assert table.rows[-2][1:] == (f"{taken / 5:.1f}%", f"{taken / 5:.1f}%")


def test_a_query_that_is_to_be_named_is_named_however_little_it_took() -> None:
    names = [row[0] for row in rows(Budgets("t", (many("a", 0),), named=("q19",))).rows]
    assert "q19" in names
    assert names[-2] == "11 other queries"


def test_what_has_no_name_is_in_the_piece_of_the_rest_and_is_not_left() -> None:
    budgets = Budgets("t", (TierBudget("a", 1, (Part("x", 0.5),), 0.25),))
    assert rows(budgets).rows == (("x", "50%"), ("the rest", "25%"), ("left", "25%"))
    svg = budget_bars(budgets, "p", WIDE)
    assert "the rest" in texts(svg)
    assert "a, all others: 25%" in sentences(svg)
    with pytest.raises(NotDrawable):
        rows(Budgets("t", (TierBudget("a", 1, (Part("x", 0.9),), 0.25),)))
