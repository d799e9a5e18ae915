"""Give MkDocs the pages that are generated, the pictures, and tables that scroll by themselves.

MkDocs calls the functions by their names.
"""

import hashlib
import itertools
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.reference import (
    api,
    client,
    command_line,
    included,
    notebooks,
    settings_by_subject,
)

SOURCES = Path(__file__).parent
STATIC = SOURCES.parent / "penstock" / "web" / "static"
PICTURE = re.compile(r"^<!-- picture: ([\w-]+) -->$", re.MULTILINE)
COMMENT = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated from the code."""
    generated = {
        **api.pages(),
        **included.pages(),
        **notebooks.pages(),
        "reference/command-line.md": command_line.page(),
        "reference/settings.md": settings_by_subject.page(),
        "reference/python.md": client.page(),
    }
    for place, content in generated.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_env(env: Environment, **_: Any) -> Environment:
    """Add the filter ``asset``: the address of a file of the server, with a hash of its content."""
    env.filters["asset"] = _asset
    return env


def _asset(name: str) -> str:
    tag = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:16]
    return f"../static/{name}?v={tag}"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put pictures in their places, and leave out the comments that tests read."""
    return COMMENT.sub("", PICTURE.sub(_picture, markdown))


def _picture(match: re.Match[str]) -> str:
    drawn = (SOURCES / "pages" / "pictures" / f"{match[1]}.svg").read_text().strip()
    return f"<figure>\n{drawn}\n</figure>"


def on_page_content(html: str, **_: Any) -> str:
    """Let wide tables and code scroll by themselves, also by the keyboard."""
    numbers = itertools.count(1)
    html = re.sub(
        r"<table>.*?</table>",
        lambda match: (
            f'<div class="wide" role="region" tabindex="0" aria-label="Table {next(numbers)}">'
            f"{match[0]}</div>"
        ),
        html,
        flags=re.DOTALL,
    )
    html = html.replace("<th>", '<th scope="col">')
    return html.replace("<pre>", '<pre tabindex="0">')


def on_post_build(config: MkDocsConfig) -> None:
    """Leave the sitemap out: its addresses would be absolute."""
    for file in Path(config.site_dir).glob("sitemap.xml*"):
        file.unlink()
