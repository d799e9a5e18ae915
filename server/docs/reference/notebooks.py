"""Show the notebooks of the Python client as pages: their text and their code, without outputs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.reference.markdown import block

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
    yield f"*This is `clients/python/notebooks/{name}` of the project; the tests run it.*\n"
