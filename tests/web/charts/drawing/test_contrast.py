"""Test contrast of texts and marks on light and dark pages, with and without the stylesheet."""

import colorsys
import itertools
import re
from pathlib import Path

import pytest

from penstock.web import charts as package
from penstock.web.charts.drawing.marks import FALLBACK, HEAT, RAMP, SERIES

STYLESHEET = (Path(package.__file__).parents[1] / "static/charts.css").read_text()
LIGHT_PAGES = ("#ffffff", "#fbfbfc", "#f6f8fa")
DARK_PAGES = ("#11171b", "#182026", "#13171f", "#121212", "#181c25", "#000000")
OKABE_ITO = ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442")
CELLS = tuple(f"h{shade}" for shade in range(HEAT))
TEXT, MARK = 4.5, 3.0
WEIGHTS = (0.2126, 0.7152, 0.0722)
STRONGEST_TINT = 0.25
"""The opacity of bars, on which texts may stand."""

LINES = 0.6
"""The opacity of lines that carry meaning: zero, the ladder, the rest of a budget."""


def schemes() -> dict[str, dict[str, str]]:
    """Return the stylesheet's colors on light pages and on dark pages."""
    pattern = r"--chart-([a-z0-9]+): light-dark\((#[0-9a-f]+), (#[0-9a-f]+)\);"
    colors = re.findall(pattern, STYLESHEET)
    return {
        "light": {name: light for name, light, _ in colors},
        "dark": {name: dark for name, _, dark in colors},
    }


def channels(color: str) -> tuple[float, float, float]:
    digits = color.removeprefix("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    red, green, blue = (int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return red, green, blue


def over(color: str, ground: str, opacity: float) -> str:
    """Return the color seen when a translucent color lies on a background."""
    pairs = zip(channels(color), channels(ground), strict=True)
    mixed = (round(255 * (opacity * a + (1 - opacity) * b)) for a, b in pairs)
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def luminance(color: str) -> float:
    """Return the relative luminance (WCAG 2.2)."""
    linear = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels(color)
    )
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def contrast(color: str, other: str) -> float:
    """Return the contrast ratio (WCAG 2.2), from 1 to 21."""
    low, high = sorted((luminance(color), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_guidelines_have_it() -> None:
    assert contrast("#fff", "#000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("scheme", "pages"), [("light", LIGHT_PAGES), ("dark", DARK_PAGES)])
def test_texts_and_marks_stand_out_from_the_page(scheme: str, pages: tuple[str, ...]) -> None:
    colors = schemes()[scheme]
    assert set(colors) == {"ground", "ink", "quiet", "rest"} | {
        *(f"s{n}" for n in range(len(FALLBACK))),
        *(f"t{n}" for n in range(len(RAMP))),
        *CELLS,
    }
    for page in (*pages, colors["ground"]):
        for name, color in colors.items():
            if name not in ("ground", *CELLS):
                wanted = TEXT if name in ("ink", "quiet") else MARK
                assert contrast(color, page) >= wanted, (name, page)
        assert contrast(over(colors["ink"], page, LINES), page) >= MARK


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_are_read_on_every_shade_of_a_heat_map(scheme: str) -> None:
    colors = schemes()[scheme]
    assert all(contrast(colors["ink"], colors[cell]) >= TEXT for cell in CELLS)
    shades = [contrast(colors[cell], colors["ground"]) for cell in CELLS]
    assert all(after > 1.1 * before for before, after in itertools.pairwise(shades))


def hue(color: str) -> float:
    """Return the hue of a color in degrees."""
    return 360 * colorsys.rgb_to_hsv(*channels(color))[0]


@pytest.mark.parametrize("scheme", ["light", "dark", "alone"])
def test_series_have_the_hues_that_readers_of_every_color_vision_tell_apart(scheme: str) -> None:
    """Hold them to the colors of Okabe and Ito, whose black is the ink of a page."""
    colors = {**schemes(), "alone": {f"s{n}": color for n, color in enumerate(FALLBACK)}}[scheme]
    for place, wanted in enumerate(OKABE_ITO):
        apart = abs(hue(colors[f"s{place}"]) - hue(wanted)) % 360
        assert min(apart, 360 - apart) <= 12, place
    red, green, blue = channels(colors[f"s{len(OKABE_ITO)}"])
    assert max(red, green, blue) - min(red, green, blue) < 0.06
    assert len(FALLBACK) == SERIES == len(OKABE_ITO) + 1 == 8


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_more_accurate_a_level_the_stronger_its_color(scheme: str) -> None:
    colors = schemes()[scheme]
    ramp = [contrast(colors[f"t{n}"], colors["ground"]) for n in range(len(RAMP))]
    assert all(stronger > 1.1 * weaker for stronger, weaker in itertools.pairwise(ramp))
    fallback = [luminance(color) for color in RAMP]
    assert fallback == sorted(fallback)


@pytest.mark.parametrize(("scheme", "pages"), [("light", LIGHT_PAGES), ("dark", DARK_PAGES)])
def test_texts_are_read_on_bars_as_well(scheme: str, pages: tuple[str, ...]) -> None:
    colors = schemes()[scheme]
    for page in pages:
        for name in ("ink", *(f"s{n}" for n in range(len(FALLBACK)))):
            tinted = over(colors[name], page, STRONGEST_TINT)
            assert contrast(colors["ink"], tinted) >= TEXT, (name, page)


@pytest.mark.parametrize("color", [*FALLBACK, *RAMP])
def test_colors_without_the_stylesheet_serve_light_and_dark_pages(color: str) -> None:
    for page in (*LIGHT_PAGES, *DARK_PAGES):
        assert contrast(color, page) >= MARK, page


def test_no_tint_is_stronger_than_texts_allow() -> None:
    for file in Path(package.__file__).parent.rglob("*.py"):
        for opacity in re.findall(r'fill-opacity="([0-9.]+)"', file.read_text()):
            assert float(opacity) <= STRONGEST_TINT, file.name
