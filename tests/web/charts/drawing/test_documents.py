"""Test rules that every picture keeps, for any content and any names."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.web.charts.pictures import (
    HOSTILE,
    SVG,
    USUAL,
    Chart,
    charts,
    corners,
    empty,
    parsed,
    size,
    texts,
    usual,
)

from penstock.web import charts as package
from penstock.web.charts.drawing.svg import NARROW, WIDE, both_widths

KINDS = sorted(usual())
WIDTHS = (NARROW, WIDE)
STYLESHEET = Path(package.__file__).parents[1] / "static/charts.css"
DRAWN = {f"{SVG}{tag}" for tag in ("svg", "title", "desc", "g", "path", "rect", "circle", "text")}
A_HAIR = 0.6
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=200))


def kept(chart: Chart, width: int) -> ET.Element:
    """Return the parsed picture, which must keep all rules of a picture."""
    svg = chart.draw("p", width)
    root = parsed(svg)
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == ("p-title", "p-desc")
    assert [element.get("id") for element in root[:2]] == ["p-title", "p-desc"]
    assert root.get("width") is None
    assert root.get("height") is None
    for element in root.iter():
        assert element.tag in DRAWN
        assert not [name for name, _ in element.items() if name == "style" or name.startswith("on")]
    assert svg == chart.draw("p", width)
    return root


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_says_what_it_is_without_style_or_fixed_width(kind: str, width: int) -> None:
    root = kept(usual()[kind], width)
    assert all((element.text or "").strip() for element in root[:2])


@pytest.mark.parametrize("names", [USUAL, HOSTILE[:4], HOSTILE[4:8]], ids=["usual", "odd", "odder"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_drawn_beyond_the_edges(kind: str, width: int, names: tuple[str, ...]) -> None:
    svg = charts(names)[kind].draw("p", width)
    wide, high = size(svg)
    for element in parsed(svg).iter():
        for x, y in corners(element):
            assert -A_HAIR <= x <= wide + A_HAIR, ET.tostring(element)
            assert -A_HAIR <= y <= high + A_HAIR, ET.tostring(element)


@settings(max_examples=40, deadline=None)
@given(st.tuples(NAMES, NAMES, NAMES, NAMES).filter(lambda names: len(set(names)) == 4))
def test_no_name_breaks_a_picture(names: tuple[str, str, str, str]) -> None:
    for chart in charts(names).values():
        for width in WIDTHS:
            kept(chart, width)


@pytest.mark.parametrize("kind", sorted(empty()))
def test_nothing_to_show_gives_a_picture_that_says_so(kind: str) -> None:
    root = kept(empty()[kind], NARROW)
    (sentence,) = texts(ET.tostring(root, encoding="unicode"))
    assert len(sentence) > 20
    assert sentence == root[1].text


@pytest.mark.parametrize("kind", KINDS)
def test_both_widths_stand_on_one_page_with_ids_of_their_own(kind: str) -> None:
    page = parsed(f"<body>{both_widths(usual()[kind].draw, 'q')}</body>")
    ids = [name for element in page.iter() if (name := element.get("id"))]
    assert len(ids) == len(set(ids)) == 4
    assert [part.get("class") for part in page] == ["chart-narrow", "chart-wide"]


def test_every_color_is_a_class_of_the_stylesheet() -> None:
    colors = re.compile(r'class="([hst]\d|cell|quiet|strong|hollow|rest)"')
    used = {name for chart in usual().values() for name in colors.findall(chart.draw("p", WIDE))}
    stylesheet = STYLESHEET.read_text()
    assert {"s0", "s1", "t0", "t1", "quiet", "strong"} <= used
    assert all(f".chart .{name} {{" in stylesheet for name in used)


def test_colors_without_the_stylesheet_are_attributes_of_the_same_elements() -> None:
    for chart in usual().values():
        for element in parsed(chart.draw("p", WIDE)).iter():
            if re.fullmatch(r"s\d", element.get("class", "")):
                assert re.fullmatch(r"#[0-9a-f]{6}", element.get("color", ""))
