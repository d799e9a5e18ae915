"""How a release shows itself: in a console, a notebook, a frame."""

import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from html.parser import HTMLParser

import pytest

from penstock_client import Release
from penstock_client._show.notebook import ROWS, page
from penstock_client._show.svg import ACCENT, Mark, chart

HOSTILE = '<img src=x onerror="alert(1)">&amp;\'"\x1b[2J\u202e'


def test_a_release_says_in_one_line_what_it_is(release: Release) -> None:
    assert repr(release) == (
        "<Release of 'flights_by_carrier' at 'partner': 2 values, ±88.3 at 95%,"
        " epsilon 0.629, delta 1e-06>"
    )


def test_it_does_not_claim_more_than_one_value(release: Release) -> None:
    single = dataclasses.replace(release, keys=("AA",), values=(1.0,))
    assert "1 value," in repr(single)
    pure = dataclasses.replace(single.guarantee, definition="pure", delta=0.0, epsilon=None)
    assert repr(dataclasses.replace(single, guarantee=pure)).endswith("epsilon ∞>")


class Tags(HTMLParser):
    """Collects the elements, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_every_value_with_its_interval(release: Release) -> None:
    tags = Tags(release._repr_html_())
    assert {"svg", "table"} <= set(tags.tags)
    for text in ("AA", "31,988", "31,899", "32,076", "0", "-88", "88", "lower 95%"):
        assert text in tags.texts
    assert "epsilon 0.629, delta 1e-06 (zcdp, rho 0.0118)" in tags.texts


def test_texts_of_the_server_are_escaped_everywhere(release: Release) -> None:
    hostile = dataclasses.replace(
        release,
        query=HOSTILE,
        dataset=HOSTILE,
        tier=HOSTILE,
        mechanism=HOSTILE,
        asserted_by=HOSTILE,
        keys=(HOSTILE, (HOSTILE, 3)),
        guarantee=dataclasses.replace(release.guarantee, definition=HOSTILE),
        level=dataclasses.replace(release.level, parameter=HOSTILE),
    )
    html = hostile._repr_html_()
    tags = Tags(html)
    assert "img" not in tags.tags
    assert "script" not in tags.tags
    assert not any(name.startswith("on") for name in tags.attributes)
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert any(HOSTILE[:20] in text for text in tags.texts)


def test_a_long_release_is_cut_and_says_so(release: Release) -> None:
    many = dataclasses.replace(
        release, keys=tuple(range(100_000)), values=tuple(map(float, range(100_000)))
    )
    html = many._repr_html_()
    assert f"The first {ROWS} of 100,000 values" in html
    assert html.count("<tr>") == ROWS + 1
    assert len(html) < 50_000
    assert "The first" not in release._repr_html_()


def test_a_release_without_values_shows_no_chart(release: Release) -> None:
    empty = dataclasses.replace(release, keys=(), values=())
    assert "<svg" not in empty._repr_html_()


def marks() -> list[Mark]:
    return [Mark("a", 10.0, 5.0, 15.0), Mark("b & <c>", -3.0, -8.0, 2.0)]


def test_the_chart_is_one_well_formed_element() -> None:
    tree = ET.fromstring(chart(marks(), 'a "title" & more', 0))  # noqa: S314 # it is our own
    space = "{http://www.w3.org/2000/svg}"
    assert tree.tag == f"{space}svg"
    assert tree.findtext(f"{space}title") == 'a "title" & more'
    assert len(tree.findall(f".//{space}circle")) == 2
    tooltips = [title.text for title in tree.findall(f"{space}g/{space}title")]
    assert tooltips == ["a: 10 (5 to 15)", "b & <c>: -3 (-8 to 2)"]


def test_the_chart_puts_numbers_where_they_belong() -> None:
    svg = chart(marks(), "t", 0)
    ticks = {
        float(text.replace(",", "")): float(x)
        for x, text in re.findall(r'<text x="([\d.]+)" y="\d+" text-anchor="middle">([^<]+)<', svg)
    }
    low, high = min(ticks), max(ticks)
    scale = (ticks[high] - ticks[low]) / (high - low)
    circles = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', svg)]
    expected = [ticks[low] + (mark.value - low) * scale for mark in marks()]
    assert circles == pytest.approx(expected, abs=0.11)
    assert low <= -8
    assert high >= 15


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 12345.678, 1e12, 1e300])
def test_the_chart_takes_any_size(size: float) -> None:
    rows = [Mark("a", size, 0.5 * size, 1.5 * size)]
    assert len(chart(rows, "t", 0)) < 10_000


@pytest.mark.parametrize(
    "mark",
    [
        Mark("a", 1.0, 1.0, 1.0),
        Mark("a", 1e308, -1e308, float("inf")),
        Mark("a", 0.0, -1.7e308, 1.7e308),
        Mark("a", 1e15, 1e15, 1e15 + 0.125),
        Mark("a", 0.0, 0.0, 5e-324),
    ],
)
def test_what_cannot_be_drawn_is_not_drawn(mark: Mark) -> None:
    assert chart([mark], "t", 0) == ""
    assert chart([], "t", 0) == ""


def luminance(color: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    parts = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("background", ["#ffffff", "#111111", "#1e1e1e"])
def test_the_chart_stands_out_on_light_and_dark(background: str) -> None:
    dark, light = sorted((luminance(ACCENT), luminance(background)))
    assert (light + 0.05) / (dark + 0.05) >= 3
    svg = chart(marks(), "t", 0)
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg)) == {ACCENT, "currentColor", "none"}


def test_fewer_rows_may_be_asked_for(release: Release) -> None:
    assert "The first 1 of 2 values" in page(release, rows=1)
