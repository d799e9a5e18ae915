"""Configure gunicorn from Penstock's settings (host, port, workers).

Options on gunicorn's own command line override them.

    gunicorn -c deploy/gunicorn.conf.py
"""

import ctypes
import gc
import importlib
import logging
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from gunicorn.glogging import Logger

from penstock.http.access_log import Lines
from penstock.setting_sources import load

settings, _ = load()

wsgi_app = "penstock.application:create_app()"
bind = (
    f"[{settings.host}]:{settings.port}"
    if ":" in settings.host
    else f"{settings.host}:{settings.port}"
)
workers = settings.workers

# Threads: while one waits (for the time quantum, the database's one writer, a slow client), the
# worker serves other requests, and a long registration is not mistaken for a hang.
worker_class = "gthread"
threads = 8
timeout = 60
graceful_timeout = 30
keepalive = 5

# Below the 1,024 descriptors that a process often has, which files and the database need too.
worker_connections = 512
sendfile = False

# The master imports the application's modules but creates no application: each worker opens the
# home after the fork, so that workers share no connections, keys, threads or random streams.
preload_app = False
reuse_port = False

# The port is the only entry: there is no control socket, and headers from clients about their
# address are not trusted.
control_socket_disable = True
forwarded_allow_ips = ""
secure_scheme_headers = {}
forwarder_headers = ""
proxy_protocol = "off"
http_protocols = "h1"

# Heartbeats in memory: on a slow disk they would block the workers.  The files have no
# name once they are open, so that a killed server leaves none behind.
_memory = Path("/dev/shm")  # noqa: S108  # our files have no name there
worker_tmp_dir = str(_memory) if _memory.is_dir() and os.access(_memory, os.W_OK) else None
umask = 0o077

_DESCRIPTOR = "PENSTOCK_SHARED_MEMORY"

# The database's owner runs migrations only; workers must not have its URL.
_OWNERS = ("PENSTOCK_MIGRATION_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL_FILE")

# The application logs every answer itself, without addresses; at its debug level gunicorn would
# log the address of every request.
accesslog = None
errorlog = "-"
loglevel = settings.log_level.lower().replace("debug", "info")


class _InJson(Logger):  # type: ignore[misc]  # gunicorn has no annotations
    """Write gunicorn's own lines in the form of the application's, from the first one on."""

    def setup(self, cfg: Any) -> None:
        """Set up gunicorn's log, also when the settings are read again."""
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(Lines())


logger_class = _InJson


class _WithoutQuotations(logging.Filter):
    """Remove quoted parts of requests from log lines: they may contain a token or a name."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith("Error handling request"):
            record.msg, record.args = "Error handling request", ()
        if message.startswith("Invalid request from"):
            record.msg, record.args = message.partition(" '")[0].partition(' "')[0], ()
        return True


class _InOneLine(logging.Filter):
    """Log in words, without the places in the code, why a worker cannot open the home."""

    def filter(self, record: logging.LogRecord) -> bool:
        from penstock.errors import PenstockError

        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, PenstockError):
            record.msg, record.args = "A worker cannot start: %s", (error.detail,)
            record.exc_info = None
        return True


def _share_memory() -> None:
    """Create the memory for counters that all workers forked from now on share.

    Every reload creates it again: workers of another version may lay it out differently.  The
    old memory is freed with the last old worker.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("penstock")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.environ[_DESCRIPTOR] = str(descriptor)


def _preload() -> None:
    """Import the modules that every worker needs: workers share their memory and start faster.

    This is only code and constant tables: no home is opened here, and no entropy is read.
    """
    # Otherwise BLAS's threads would be forked; `penstock serve` sets the same.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    importlib.import_module("penstock.application")
    from sqlalchemy.orm import configure_mappers

    from penstock.accounting import import_late

    configure_mappers()
    import_late()
    # Otherwise the garbage collector would write into every shared page, and so copy it.
    gc.collect()
    gc.freeze()


def on_starting(server: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Prepare the master, before any worker is forked."""
    _share_memory()
    _preload()
    for rule in (_WithoutQuotations(), _InOneLine()):
        logging.getLogger("gunicorn.error").addFilter(rule)


def on_reload(server: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Prepare a reload (SIGHUP), before new workers are forked and the old ones are stopped."""
    former = int(os.environ[_DESCRIPTOR])
    _share_memory()
    os.close(former)


def post_fork(server: object, worker: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Make a worker end with its master, even a killed one, and protect the worker's memory.

    Otherwise the worker would keep the port for a while, and the next server could not start.
    Its work is complete or rolled back, as after any crash.  Keys and exact values pass
    through its memory: it is not written to a core file, nor readable by another process of
    the same account.
    """
    for name in _OWNERS:
        os.environ.pop(name, None)
    if sys.platform == "linux":
        parent_death_signal, dumpable = 1, 4  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE of prctl(2)
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        ctypes.CDLL(None).prctl(dumpable, 0)


def worker_exit(server: object, worker: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Write the counts of a worker that ends to the log."""
    closing = getattr(getattr(worker, "wsgi", None), "extensions", {}).get("penstock.closing")
    if closing is not None:
        closing()


def post_worker_init(worker: object) -> None:
    """Install Penstock's reader of requests and its answer to malformed ones in a ready worker."""
    from gunicorn import util

    from penstock.http import intake
    from penstock.http.intake import malformed
    from penstock.http.mount import prefix_of

    util.write_error = malformed.answer
    intake.install(worker, settings.client_patience, prefix_of(settings.public_url))
