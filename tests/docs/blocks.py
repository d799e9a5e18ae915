"""Read the blocks of code of the documentation, and what the comments above them say.

A block is written to a file (``<!-- file: NAME -->``), typed (``sh``), the output of what was
typed last (``<!-- output -->``, or ``<!-- output: with other numbers -->``), started
(``<!-- serve -->``),
or an illustration (``<!-- illustration: REASON -->``).  There is no other kind.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from docs.building import SOURCES

PAGES = SOURCES / "pages"
README = SOURCES.parents[1] / "README.md"
_BLOCK = re.compile(
    r"^(?:<!-- (?P<kind>\w+)(?:: (?P<detail>[^>]*?))? -->\n)?"
    r"```(?P<language>\w*)\n(?P<content>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """Hold a block: its kind, the detail of its comment, its language and its content."""

    kind: str
    detail: str
    language: str
    content: str


def blocks_of(path: Path) -> list[Block]:
    """Return the blocks of a page, from the top."""
    return [
        Block(match["kind"] or "", match["detail"] or "", match["language"], match["content"])
        for match in _BLOCK.finditer(path.read_text())
    ]


def pages() -> list[Path]:
    """Return every page that somebody wrote for the site, and the project's first page."""
    return [README, *sorted(PAGES.rglob("*.md"))]


def shape_of(output: str) -> str:
    """Return an output with every number, time and id alike, and columns of any width."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", output.strip())
    return re.sub(r"[ -]+", " ", re.sub(r"\d[\d,.]*(?:e[+-]?\d+)?", "0", text))
