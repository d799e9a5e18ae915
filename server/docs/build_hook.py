"""Build the site and the client's wheel when hatchling builds the server.

So wheels and checkouts have both.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilder


class SiteHook(BuildHookInterface[Any]):
    """Build the site with MkDocs in a process of its own."""

    _temporary: Path | None = None
    _wheels: Path | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the site to a wheel; for an editable installation, write it where it is served.

        An editable installation without MkDocs is served without the site, and says so.
        """
        root, is_editable = Path(self.root), version == "editable"
        self._add_client(root, build_data, is_editable=is_editable)
        served = root / "server/penstock/site"
        if is_editable and importlib.util.find_spec("mkdocs") is None:
            self.app.display_warning("MkDocs is not installed: the documentation was not built.")
        elif not is_editable:
            folder = self._temporary = Path(mkdtemp())
            self._build(root, folder)
            build_data["force_include"][str(folder)] = "penstock/site"
        elif not _is_newer(served / "index.html", root / "server/docs"):
            # pip builds twice: for the metadata, and for the installation.
            self._build(root, served)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - hatchling's signature
        """Remove the copies of the site and of the client that are in the wheel now."""
        for folder in (self._temporary, self._wheels):
            if folder is not None:
                shutil.rmtree(folder)

    def _add_client(self, root: Path, build_data: dict[str, Any], *, is_editable: bool) -> None:
        """Build the client's wheel, which the server serves at ``/clients/``.

        hatchling gives all files one time, so that equal sources make equal bytes.
        """
        client, served = root / "clients/python", root / "server/penstock/wheels"
        if is_editable:
            shutil.rmtree(served, ignore_errors=True)
        else:
            self._wheels = Path(mkdtemp())
            build_data["force_include"][str(self._wheels)] = "penstock/wheels"
        folder = str(self._wheels or served)
        list(WheelBuilder(str(client)).build(directory=folder, versions=["standard"]))

    def _build(self, root: Path, folder: Path) -> None:
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "docs.building", str(folder)],
            cwd=root / "server",
            env={**os.environ, "PYTHONPATH": searched(root), "PYTHONDONTWRITEBYTECODE": "1"},
            check=True,
        )


def searched(root: Path) -> str:
    """Return the ``PYTHONPATH`` of the process that builds: the sources, then the caller's.

    An environment that pip makes for one build has MkDocs on its ``PYTHONPATH`` alone.
    """
    sources = [str(root / part) for part in ("server", "clients/python/src")]
    return os.pathsep.join(filter(None, [*sources, os.environ.get("PYTHONPATH")]))


def _is_newer(built: Path, sources: Path) -> bool:
    """Return whether a file was built after every change of its sources."""
    if not built.exists():
        return False
    changes = (path.stat().st_mtime for path in sources.rglob("*") if path.suffix != ".pyc")
    return built.stat().st_mtime > max(changes)
