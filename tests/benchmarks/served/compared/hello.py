"""Serve a Flask application that does nothing, as ``penstock serve`` would: to compare with.

Run as ``python -m tests.benchmarks.served.compared.hello``, with Penstock's variables for host,
port and workers.  What gunicorn is told about processes, threads and connections is Penstock's
own; its hooks, which install Penstock's reader of requests, are left out.
"""

import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from tests.benchmarks.served.serving import Running, started
from tests.support.places import ROOT

PATH = "/"
BODY = "Hello, World!"
SHARED = (
    *("bind", "workers", "worker_class", "threads", "timeout", "graceful_timeout", "keepalive"),
    *("worker_connections", "sendfile", "worker_tmp_dir", "reuse_port", "preload_app"),
    *("control_socket_disable", "errorlog", "accesslog", "loglevel"),
)


def create() -> Flask:
    """Return the application."""
    application = Flask("hello")
    application.add_url_rule(PATH, "hello", lambda: BODY)
    return application


class Hello(BaseApplication):  # type: ignore[misc]  # gunicorn has no annotations
    """Run gunicorn with Penstock's settings."""

    def load_config(self) -> None:
        """Copy them from the file that ``penstock serve`` names to gunicorn."""
        for name, value in settings().items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Return the application, in each worker."""
        return create()


def settings() -> dict[str, Any]:
    """Return what is shared with Penstock's gunicorn."""
    own = runpy.run_path(str(ROOT / "deploy" / "gunicorn.conf.py"))
    return {name: own[name] for name in SHARED}


@contextmanager
def served(folder: Path, workers: int) -> Iterator[Running]:
    """Yield a server of the application; its log is in ``folder``."""
    command = [sys.executable, "-m", "tests.benchmarks.served.compared.hello"]
    environment = {"PENSTOCK_WORKERS": str(workers)}
    with started(command, environment, folder, ready=PATH, within=ROOT) as server:
        yield server


if __name__ == "__main__":
    Hello().run()
