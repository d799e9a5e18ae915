"""Test a tier ladder: a move starts at the user's tier, and users beyond the room are counted."""

import re

from tests.web.charts.pictures import (
    SVG,
    parsed,
    texts,
)

from penstock.web.charts.ladder import Ladder, Move, Tier, ladder


def test_a_move_is_drawn_from_where_somebody_is_to_where_they_would_go() -> None:
    tiers = (Tier("low", ("paul", "petra")), Tier("high", ("rosa",)))
    before = ladder(Ladder("t", tiers), "p")
    assert "stroke-dasharray" not in before
    after = ladder(Ladder("t", tiers, Move("paul", "low", "high")), "p")
    frames = [e for e in parsed(after).iter(f"{SVG}rect") if e.get("class") == "chip"]
    assert [e.get("stroke-dasharray") for e in frames] == [None, None, "4 3", None]
    assert texts(after).count("paul") == 2
    away = ladder(Ladder("t", tiers, Move("paul", "low", None)), "p")
    assert "without a tier" in texts(away)


def test_a_crowded_rung_says_how_many_more_there_are() -> None:
    crowd = tuple(f"person {place}" for place in range(1000))
    shown = texts(ladder(Ladder("t", (Tier("a", crowd),)), "p"))
    names = [text for text in shown if re.fullmatch(r"person \d+", text)]
    (more,) = (int(match[1]) for text in shown if (match := re.fullmatch(r"and (\d+) more", text)))
    assert len(names) + more == 1000


def test_the_rungs_have_the_ramp_of_levels_and_people_without_a_tier_none() -> None:
    tiers = (Tier("low", ("paul",)), Tier("high", ("rosa",)))
    svg = ladder(Ladder("t", tiers, Move("paul", "low", None)), "p")
    groups = [(e.get("class"), e.findtext(f"{SVG}title")) for e in parsed(svg).iter(f"{SVG}g")]
    people = [(color, title) for color, title in groups if title]
    assert [color for color, _ in people] == ["t0", "t1", "without"]
