"""How gunicorn serves Penstock.  The settings of penstock (host, port, workers) decide;
what stands on gunicorn's own command line goes before them.

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

from penstock.setting_sources import load

settings, _ = load()

wsgi_app = "penstock.application:create_app()"
bind = (
    f"[{settings.host}]:{settings.port}"
    if ":" in settings.host
    else f"{settings.host}:{settings.port}"
)
workers = settings.workers

# Threads, so that a worker that waits (for the time quantum, the database's one writer, a
# slow client) serves others meanwhile, and a long registration is not taken for a hang.
worker_class = "gthread"
threads = 8
timeout = 60
graceful_timeout = 30
keepalive = 5

# Below the 1,024 descriptors that a process often has, for files and the database as well.
worker_connections = 512
sendfile = False

# The master imports the application's modules, and makes no application: each worker opens the
# home after the fork, so that connections, keys, threads and random streams are its own.
preload_app = False
reuse_port = False

# No way in but the port: nothing listens beside it, and no client says where it comes from.
control_socket_disable = True
forwarded_allow_ips = ""
secure_scheme_headers = {}
forwarder_headers = ""
proxy_protocol = "off"
http_protocols = "h1"

# Heartbeats in memory: on a slow disk they would block the workers.  The files have no
# name once they are open, so that a killed server leaves none behind.
_memory = Path("/dev/shm")  # noqa: S108  # no file of ours is found there by its name
worker_tmp_dir = str(_memory) if _memory.is_dir() and os.access(_memory, os.W_OK) else None
umask = 0o077

_DESCRIPTOR = "PENSTOCK_SHARED_MEMORY"

# Who owns the database migrates it, and serves nobody.
_OWNERS = ("PENSTOCK_MIGRATION_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL_FILE")

# The application logs every answer by itself, without addresses; gunicorn would name the
# address of every request where it is told to debug.
accesslog = None
errorlog = "-"
loglevel = settings.log_level.lower().replace("debug", "info")


class _WithoutQuotations(logging.Filter):
    """Cut what a request said out of the lines about it: it may hold a token or a name."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith("Error handling request"):
            record.msg, record.args = "Error handling request", ()
        if message.startswith("Invalid request from"):
            record.msg, record.args = message.partition(" '")[0].partition(' "')[0], ()
        return True


class _InOneLine(logging.Filter):
    """Say in one line why a worker cannot open the home: there is nothing to trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        from penstock.errors import PenstockError

        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, PenstockError):
            record.msg, record.args = "A worker cannot start: %s", (error.detail,)
            record.exc_info = None
        return True


def _share_memory() -> None:
    """Make the memory in which the workers that are forked from now on count together.

    Anew at every reload: workers of another version may lay it out differently.  The old
    one goes with the last old worker.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("penstock")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.environ[_DESCRIPTOR] = str(descriptor)


def _preload() -> None:
    """Import what every worker would: they share its memory, and start without reading it.

    Code and tables that depend on nothing: no home is opened here, and no entropy read.
    """
    # Else its threads would be forked; `penstock serve` sets the same.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    importlib.import_module("penstock.application")
    from sqlalchemy.orm import configure_mappers

    from penstock.accounting import import_late

    configure_mappers()
    import_late()
    # The collector would write into every page of what is shared.
    gc.collect()
    gc.freeze()


def on_starting(server: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Before anything is served."""
    _share_memory()
    _preload()
    for rule in (_WithoutQuotations(), _InOneLine()):
        logging.getLogger("gunicorn.error").addFilter(rule)


def on_reload(server: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """SIGHUP: before the new workers are forked, and the old ones told to end."""
    former = int(os.environ[_DESCRIPTOR])
    _share_memory()
    os.close(former)


def post_fork(server: object, worker: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Let a worker end with its master, also where that one is killed, and keep its memory.

    It would keep the port for a while otherwise, and the next server could not start.
    What it was doing is whole or undone, as after any crash.  Keys and exact values pass
    through its memory: that is not written to a core file, nor read by another process of
    the same account.
    """
    for name in _OWNERS:
        os.environ.pop(name, None)
    if sys.platform == "linux":
        parent_death_signal, dumpable = 1, 4  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE of prctl(2)
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
        ctypes.CDLL(None).prctl(dumpable, 0)


def worker_exit(server: object, worker: object) -> None:  # noqa: ARG001  # gunicorn's shape
    """Have the log told what a worker that ends had counted."""
    closing = getattr(getattr(worker, "wsgi", None), "extensions", {}).get("penstock.closing")
    if closing is not None:
        closing()


def post_worker_init(worker: object) -> None:
    """Let a worker that is ready take requests in, and refuse what is none, in our ways."""
    from gunicorn import util

    from penstock.http import intake
    from penstock.http.intake import malformed
    from penstock.http.mount import prefix_of

    util.write_error = malformed.answer
    intake.install(worker, settings.client_patience, prefix_of(settings.public_url))
