"""Test that names and prefixes stay text, whatever characters they contain."""

from tests.web.charts.pictures import (
    HOSTILE,
    charts,
    parsed,
    sentences,
    usual,
)

from penstock.web.charts.drawing.svg import NARROW, WIDE


def test_hostile_names_are_shown_as_text() -> None:
    for chart in charts(HOSTILE[:4]).values():
        svg = chart.draw("p", WIDE)
        assert "<script" not in svg
        assert "<img" not in svg
        assert "\u202e" not in svg
    assert HOSTILE[0] in " ".join(sentences(charts(HOSTILE[:4])["groups"].draw("p", WIDE)))


def test_a_right_to_left_name_does_not_turn_the_sentence_around_it() -> None:
    svg = charts(("مرحبا", "b", "c", "d"))["groups"].draw("p", WIDE)
    assert any("\u2068مرحبا, مرحبا\u2069: 5,012 (" in sentence for sentence in sentences(svg))


def test_a_prefix_cannot_break_out_of_its_attribute() -> None:
    root = parsed(usual()["groups"].draw('"><script>', NARROW))
    assert root[0].get("id") == '"><script>-title'
