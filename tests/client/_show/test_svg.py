"""Test the chart of a release: well formed, to scale, readable on light and dark."""

import re
import xml.etree.ElementTree as ET

import pytest

from penstock_client._show.svg import ACCENT, Mark, chart


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
    """Return the relative luminance of sRGB, as WCAG 2 defines it."""
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
