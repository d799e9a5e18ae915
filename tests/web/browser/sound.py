"""Provide pages held to their width and to axe-core, at a desk and on a phone, light and dark.

At every change axe-core looks at a page in one view, and at all pages together in both of
``ONCE``; every night it looks at each page at each width in each color.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from zlib import crc32

if TYPE_CHECKING:
    from tests.web.browser.screens import Screen

DESKTOP, PHONE = (1280, 900), (390, 844)
Scheme = Literal["light", "dark"]
Views = Sequence[tuple[tuple[int, int], Scheme]]
"""Widths and heights, each with a color."""

ONCE: Views = ((DESKTOP, "light"), (PHONE, "dark"))
EVERY: Views = (*ONCE, (DESKTOP, "dark"), (PHONE, "light"))
MADE_UP = re.compile("[0-9a-f]{8,}")
"""Names in an address that are others in every run."""

WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def require_sound(window: "Screen", path: str, views: Views) -> None:
    """Require that the page is no wider than a window, and axe-core finds nothing wrong."""
    if views is ONCE:
        views = [ONCE[crc32(MADE_UP.sub("", path).encode()) % len(ONCE)]]
    for width, height in (DESKTOP, PHONE):
        window.page.set_viewport_size({"width": width, "height": height})
        assert window.page.evaluate(WIDE) <= 0, f"{path} is wider than {width}"
        for scheme in (scheme for size, scheme in views if size == (width, height)):
            window.page.emulate_media(color_scheme=scheme)
            assert window.faults() == [], f"{path} at {width}, {scheme}"
