"""Turn a chart of a page into a file that stands alone: its sentence above it, on white.

A page's stylesheet gives charts their colors; a file has them in its attributes.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Final

from .lettering import wrapped
from .svg import element, number, text

SVG: Final = "{http://www.w3.org/2000/svg}"
MARGIN: Final = 16
LINE: Final = 20
_COLOR: Final = re.compile(r"--chart-([a-z0-9]+): light-dark\((#[0-9a-f]+), #[0-9a-f]+\);")


def light_colors(stylesheet: str) -> dict[str, str]:
    """Return the color of each class on white pages, as the stylesheet of charts has them."""
    return dict(_COLOR.findall(stylesheet))


def as_file(chart: str, sentence: str, colors: Mapping[str, str]) -> str:
    """Return an SVG document of a chart, under a sentence, in ``colors`` by class."""
    drawn = ET.fromstring(chart)  # noqa: S314 -- a chart that was drawn here
    for part in drawn.iter():
        # The writer gives every element the namespace of its document.
        part.tag = part.tag.removeprefix(SVG)
        color = colors.get(part.get("class", ""))
        if part.get("class") == "cell":
            # Faint for pages of unknown colors, which a file is not.
            del part.attrib["fill-opacity"]
        if color and part.tag == "g":
            part.set("color", color)
        elif color:
            part.set("fill", color)
    _, _, width, height = (float(side) for side in drawn.attrib["viewBox"].split())
    lines = wrapped(sentence, width * 0.9)
    above = [text(0, LINE * place + 14, line, kind="strong") for place, line in enumerate(lines)]
    top = LINE * len(lines) + (6 if lines else 0)
    heads = [part for part in drawn if part.tag in ("title", "desc")]
    body = [part for part in drawn if part.tag not in ("title", "desc")]
    wide, high = width + 2 * MARGIN, height + top + 2 * MARGIN
    for part in list(drawn):
        drawn.remove(part)
    drawn.extend(
        (
            *heads,
            element("rect", x=0, y=0, width=wide, height=high, fill=colors.get("ground", "#fff")),
            element("g", *above, transform=f"translate({MARGIN} {MARGIN})"),
            element("g", *body, transform=f"translate({MARGIN} {MARGIN + top})"),
        )
    )
    drawn.set("xmlns", SVG.strip("{}"))
    drawn.set("viewBox", f"0 0 {number(wide)} {number(high)}")
    drawn.set("width", number(wide))
    drawn.set("height", number(high))
    drawn.set("color", colors.get("ink", "#000"))
    return ET.tostring(drawn, encoding="unicode") + "\n"
