"""Test charts that stand alone: a sentence above, colors in attributes, nothing cut off."""

import pytest
from tests.web.charts.pictures import SVG, parsed, usual

from penstock.web.charts.drawing.files import as_file, light_colors
from penstock.web.charts.drawing.svg import WIDE

COLORS = light_colors(
    "--chart-ground: light-dark(#fff, #111);--chart-ink: light-dark(#123456, #eee);"
    "--chart-quiet: light-dark(#575757, #999);--chart-t0: light-dark(#073a38, #b9eeec);"
)


@pytest.mark.parametrize("kind", sorted(usual()))
def test_a_file_has_every_text_of_its_chart_below_its_sentence(kind: str) -> None:
    chart = usual()[kind].draw("p", WIDE)
    sentence = "visits: 1,394 ± 4 for restricted"
    root = parsed(as_file(chart, sentence, COLORS))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == [sentence, *(each.text for each in parsed(chart).iter(f"{SVG}text"))]
    assert [element.tag for element in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root.get("width") == str(WIDE + 32)


def test_colors_are_those_of_white_pages() -> None:
    assert COLORS["t0"] == "#073a38"
    root = parsed(as_file(usual()["groups"].draw("p", WIDE), "a", COLORS))
    assert root.get("color") == "#123456"
    groups = [each for each in root.iter(f"{SVG}g") if each.get("class") == "t0"]
    assert {each.get("color") for each in groups} == {"#073a38"}
    quiet = [each for each in root.iter(f"{SVG}text") if each.get("class") == "quiet"]
    assert {each.get("fill") for each in quiet} == {"#575757"}


def test_a_long_sentence_takes_lines_of_its_own_and_the_file_grows() -> None:
    chart = usual()["groups"].draw("p", WIDE)
    short, long = (parsed(as_file(chart, text, COLORS)) for text in ("a", "word " * 80))
    assert float(long.get("height", "")) > float(short.get("height", "")) + 40


def test_cells_of_a_file_have_their_whole_color() -> None:
    chart = usual()["heat"].draw("p", WIDE)
    assert 'class="cell" fill="currentColor"' in chart
    alone = parsed(as_file(chart, "a", COLORS))
    cells = [each for each in alone.iter() if each.get("class") == "cell"]
    assert cells
    assert all(each.get("fill-opacity") is None for each in cells)
