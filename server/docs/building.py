"""Build the site: ``python -m docs.building FOLDER``.

The folder defaults to the one from which a checkout serves it.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).parent
SERVED = SOURCES.parent / "penstock" / "site"
"""The folder that is served; git ignores it, and the wheel has a copy."""

TIME = "SOURCE_DATE_EPOCH"
"""The variable that programs which build take for the present, in seconds since 1970."""

EPOCH = "315532800"
"""The time of every build, 1980-01-01, so that equal sources give equal bytes."""


@contextmanager
def dated() -> Iterator[None]:
    """Set the time of a build that has none, and only for it: a wheel built later has another."""
    if TIME in os.environ:
        yield
        return
    os.environ[TIME] = EPOCH
    try:
        yield
    finally:
        del os.environ[TIME]


def build(folder: Path) -> None:
    """Write the whole site to ``folder``; raise ``mkdocs.exceptions.Abort`` for any warning."""
    from mkdocs.commands.build import build as build_site
    from mkdocs.config import load_config

    with dated():
        config = load_config(str(SOURCES / "mkdocs.yml"), site_dir=str(folder.resolve()))
        config.plugins.on_startup(command="build", dirty=False)
        build_site(config)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else SERVED)
