"""Take requests into a worker of gunicorn, and give answers out.

gunicorn's own worker gives a thread to a connection as soon as its first byte has come, and
waits there for the rest; sixteen clients that send nothing more hold all threads.  Here

* ``heads``        tells from the first bytes of a request how many belong to it
* ``reception``    collects them without a thread, and hands over what is whole
* ``sockets``      bounds what is left: reading large bodies, and writing answers
* ``malformed``    refuses what is no request, as a problem like all others

The master imports none of it, so that a reload renews it: a worker that is ready asks for it.
"""

import time
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

from penstock.http.intake.reception import Reception


def install(worker: Any, patience: float, prefix: str = "") -> None:
    """Install the reception in ``worker`` before it runs.  Ignore workers without threads.

    ``patience`` is how many seconds a client may take to send a request, and to read its answer;
    ``prefix`` is the path under which proxies reach the server.
    """
    if isinstance(worker, ThreadWorker):
        Reception(worker, patience, prefix, time.monotonic).install()
