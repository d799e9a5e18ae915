"""Pages held to their width and to axe-core, at a desk and on a phone, light and dark.

At every change each width and each color is tried once; every night each with each.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.web.screens import Screen

DESKTOP, PHONE = (1280, 900), (390, 844)
Scheme = Literal["light", "dark"]
Views = Sequence[tuple[tuple[int, int], Scheme]]
"""Widths and heights, each with a color."""

ONCE: Views = ((DESKTOP, "light"), (PHONE, "dark"))
EVERY: Views = (*ONCE, (DESKTOP, "dark"), (PHONE, "light"))
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def in_turn(views: Views, place: int) -> Views:
    """Of what is tried at every change the next one; of what is tried every night all."""
    return views if views is EVERY else [views[place % len(views)]]


def require_sound(window: "Screen", path: str, views: Views) -> None:
    """The page as it stands is no wider than a window, and axe-core finds nothing wrong."""
    for width, height in (DESKTOP, PHONE):
        window.page.set_viewport_size({"width": width, "height": height})
        assert window.page.evaluate(WIDE) <= 0, f"{path} is wider than {width}"
        for scheme in (scheme for size, scheme in views if size == (width, height)):
            window.page.emulate_media(color_scheme=scheme)
            assert window.faults() == [], f"{path} at {width}, {scheme}"
