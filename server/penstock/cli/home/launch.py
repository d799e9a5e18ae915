"""gunicorn as ``penstock serve`` starts it: ``python -P -m penstock.cli.home.launch``.

gunicorn puts the folder in which it is started before all others that modules are
imported from.  A server may be started in a folder that others can write to, so here
nothing is ever imported from there.
"""

import os
import subprocess
import sys

from gunicorn.app import base
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.arbiter import Arbiter

CHECK = (sys.executable, "-P", "-m", "penstock", "status")
"""Exits with 0 where settings can be read and the home can be served.

In a process of its own: what the master imports, no reload would renew.
"""


class Program(WSGIApplication):  # type: ignore[misc]  # gunicorn has no annotations
    """gunicorn's own program, which stays where it is and leaves the import path alone."""

    def chdir(self) -> None:
        """Do nothing: the folder is right, and no place to import from."""


class Master(Arbiter):  # type: ignore[misc]  # gunicorn has no annotations
    """gunicorn's own master, which would end with a reload that cannot work."""

    def reload(self) -> None:
        """Replace the workers, if settings and home let new ones start; else go on as before."""
        done = subprocess.run(  # noqa: S603 - our own program
            CHECK, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        if done.returncode == 0:
            super().reload()
            return
        lines = [line for line in done.stderr.splitlines() if line.startswith("Error:")]
        self.log.error(
            "Not reloaded, and serving as before: %s",
            " ".join(lines) or "the home is not in order; `penstock status` says more.",
        )


if __name__ == "__main__":
    # Vectors are short and requests many: on a busy machine, threads that share the sum of one
    # vector wait for each other a hundred times longer than one alone takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    base.Arbiter = Master
    Program(prog="penstock serve").run()
