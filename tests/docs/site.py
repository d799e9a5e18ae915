"""Read the built site: its pages, their outlines, and where their links lead."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from tests.api.outline import Outline
from tests.support.places import ROOT

STATIC = ROOT / "server/penstock/web/static"
PLACE = "/docs/"
SERVERS = {"/", "/openapi.json", "/docs/"}
"""What the server itself answers, and pages may link to."""


@dataclass(frozen=True)
class Site:
    """Hold the folder of a built site, whose first page is served at ``/docs/``."""

    folder: Path

    @cached_property
    def pages(self) -> dict[str, str]:
        """Return every page by its address below ``/docs/``, as it is linked to."""
        return {
            path.relative_to(self.folder).as_posix().removesuffix("index.html"): path.read_text()
            for path in sorted(self.folder.rglob("*.html"))
        }

    @cached_property
    def outlines(self) -> dict[str, Outline]:
        """Return the outline of every page."""
        return {name: Outline(text) for name, text in self.pages.items()}

    def missing(self, page: str, link: str) -> str:
        """Return why a link of a page leads nowhere; empty if it does not, or leads outside."""
        parts = urlsplit(link)
        if parts.scheme:
            return "" if parts.scheme == "https" else f"{link}: not by https"
        folder = PLACE + page.rpartition("/")[0]
        place = normpath(f"{folder}/{unquote(parts.path)}") if parts.path else PLACE + page
        if parts.path.endswith(("/", ".")) and place != "/":
            place += "/"
        if place.startswith("/static/"):
            return "" if (STATIC / place.removeprefix("/static/")).is_file() else f"{link}: no file"
        if place in SERVERS - {PLACE}:
            return ""
        name = place.removeprefix(PLACE)
        if name in self.pages:
            anchors = {"main", "contents", *self.outlines[name].ids}
            return "" if not parts.fragment or parts.fragment in anchors else f"{link}: no anchor"
        return "" if (self.folder / name).is_file() and name else f"{link}: no page"
