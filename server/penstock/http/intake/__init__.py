"""Receive requests in a gunicorn worker, and send answers.

gunicorn's own worker gives a thread to a connection as soon as its first byte has come, and waits
there for the rest; sixteen clients that send nothing more hold all threads.  Here

* ``heads``      tells from the first bytes of a request how many bytes it has
* ``reception``  collects them without a thread, and hands over complete requests
* ``sockets``    bounds the time of reading large bodies and of writing answers
* ``malformed``  refuses bytes that are not a request, with a problem document

The master imports none of it, so that a reload renews it: each worker imports it when it is ready.
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
