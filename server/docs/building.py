"""Build the site: ``python -m docs.building FOLDER``.

The folder defaults to the one from which a checkout serves it.
"""

import os
import sys
from pathlib import Path

SOURCES = Path(__file__).parent
SERVED = SOURCES.parent / "penstock" / "site"
"""The folder that is served; git ignores it, and the wheel has a copy."""

EPOCH = "315532800"
"""The time of every build, 1980-01-01, so that equal sources give equal bytes."""


def build(folder: Path) -> None:
    """Write the whole site to ``folder``; raise ``mkdocs.exceptions.Abort`` for any warning."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    os.environ.setdefault("SOURCE_DATE_EPOCH", EPOCH)
    config = load_config(str(SOURCES / "mkdocs.yml"), site_dir=str(folder.resolve()))
    config.plugins.on_startup(command="build", dirty=False)
    build_site(config)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else SERVED)
