"""Show the notebooks of the Python client as pages: their text, their code, and what it showed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.reference.markdown import block

_STYLE = re.compile(r' style="[^"]*"')
"""Attributes that the pages' security policy does not allow."""

FOLDER = Path(__file__).parents[3] / "clients" / "python" / "notebooks"


def pages() -> dict[str, str]:
    """Return one page for each notebook, by its place in the site's sources."""
    return {
        f"notebooks/{path.stem}.md": "\n".join(_parts(json.loads(path.read_text()), path.name))
        for path in sorted(FOLDER.glob("*.ipynb"))
    }


def _parts(notebook: dict[str, Any], name: str) -> Iterator[str]:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        yield text + "\n" if cell["cell_type"] == "markdown" else block("python", text)
        yield from map(_shown, cell.get("outputs", ()))
    yield (
        f"*This is `clients/python/notebooks/{name}` of the project; the tests run it. Its numbers"
        " are those of one run: noise is drawn anew on every server.*\n"
    )


def _shown(output: dict[str, Any]) -> str:
    """Return what a cell showed: a chart or table as it is, anything else as text."""
    data = output.get("data", {})
    html = "".join(data.get("text/html", ()))
    if html and "<style" not in html:
        # Without empty lines, which would end it.
        lines = _STYLE.sub("", html).splitlines()
        return "\n".join(line for line in lines if line.strip()) + "\n"
    return block("text", "".join(output.get("text") or data.get("text/plain", ())))
