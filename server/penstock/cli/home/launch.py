"""Start gunicorn for ``penstock serve``: ``python -P -m penstock.cli.home.launch``.

gunicorn puts the folder in which it is started first on the import path.  A server may be started
in a folder that others can write to, so this program never imports from there.
"""

import os
import subprocess
import sys

from gunicorn.app import base
from gunicorn.app.wsgiapp import WSGIApplication
from gunicorn.arbiter import Arbiter

CHECK = (sys.executable, "-P", "-m", "penstock", "status")
"""The check before a reload: it exits with 0 if settings can be read and the home can be served.

It runs in its own process, because modules that the master imports would survive every reload.
"""


class Program(WSGIApplication):  # type: ignore[misc]  # gunicorn has no annotations
    """Run gunicorn without changing the folder or the import path."""

    def chdir(self) -> None:
        """Do nothing: the folder is right already, and must not be imported from."""


class Master(Arbiter):  # type: ignore[misc]  # gunicorn has no annotations
    """Run gunicorn's master, but refuse a reload that cannot work, after which it would exit."""

    def reload(self) -> None:
        """Replace the workers if new ones could start; otherwise keep the present ones."""
        done = subprocess.run(  # noqa: S603 - our own program
            CHECK, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        if done.returncode == 0:
            super().reload()
            return
        lines = [line for line in done.stderr.splitlines() if line.startswith("Error:")]
        self.log.error(
            "Not reloaded; the workers serve as before: %s",
            " ".join(lines) or "the home is not in order; run `penstock status` for details.",
        )


if __name__ == "__main__":
    # Vectors are short and requests are many: on a busy machine, several threads that compute one
    # sum wait for each other a hundred times longer than one thread takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    base.Arbiter = Master
    Program(prog="penstock serve").run()
