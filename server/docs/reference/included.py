"""Include guides that lie beside what they describe, with their links as they are on the site."""

import re
from pathlib import Path
from posixpath import dirname, normpath, relpath

ROOT = Path(__file__).parents[3]

PLACES = {
    "clients/python/README.md": "guides/python.md",
    "clients/python/auditing.md": "guides/verify-the-log.md",
    "clients/r/README.md": "guides/r.md",
    "clients/typescript/README.md": "guides/typescript.md",
    "deploy/README.md": "operate/deployment.md",
    "deploy/settings.md": "reference/settings.md",
    "deploy/sign-on.md": "operate/sign-on.md",
    "deploy/SCALING.md": "operate/scaling.md",
    "deploy/backups.md": "operate/backups.md",
    "deploy/keys.md": "operate/keys.md",
    "deploy/upgrades.md": "operate/upgrades.md",
    "deploy/releases.md": "operate/releases.md",
    "SECURITY.md": "explanation/security.md",
    "server/penstock/GUARANTEES.md": "explanation/guarantees.md",
}
"""By their places in the project, the places of the guides on the site."""

_LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")


def pages() -> dict[str, str]:
    """Return the included pages, by their places in the site's sources."""
    return {there: page(here) for here, there in PLACES.items()}


def page(here: str) -> str:
    """Return one of them, by its place in the project."""
    there = PLACES[here]

    def linked(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        if "://" in target or not target:
            return match[0]
        place = PLACES.get(normpath(f"{dirname(here)}/{target}".lstrip("/")))
        if place is None:  # It is no part of the site.
            return match[1]
        return f"[{match[1]}]({relpath(place, dirname(there))}{'#' + anchor if anchor else ''})"

    return _LINK.sub(linked, (ROOT / here).read_text())
