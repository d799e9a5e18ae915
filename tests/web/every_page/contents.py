"""Define what has to hold of what stands on any page."""

import re

from tests.api.outline import Outline
from tests.web.world import Browser
from werkzeug.test import TestResponse

LARGEST_PAGE = 100_000


def require_own(answer: TestResponse, path: str) -> None:
    """Require that only our script runs, nothing is from elsewhere; one heading, ids once."""
    page = answer.text
    outline = Outline(page)
    names = {name for name, _ in outline.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style"}), path
    assert "style" not in outline.elements
    assert re.findall(r"<script(?! src=\"/static/[a-z./]+\?v=[0-9a-f]{16}\" defer>)", page) == []
    assert re.findall(r'(?:href|src|action)="(?!/|#)[^"]*"', page) == [], path
    assert len(set(outline.ids)) == len(outline.ids), path
    assert outline.elements.count("h1") == 1, path


def weight(browser: Browser, page: str) -> int:
    """Return the bytes of a page with everything that it loads, as they go over the wire."""
    loaded = sum(
        len(browser.get(address, **{"Accept-Encoding": "gzip"}).data)
        for address in re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    )
    return loaded + len(page.encode())
