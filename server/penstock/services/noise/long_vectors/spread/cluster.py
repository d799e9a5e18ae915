"""Carry out works on a Ray cluster, which the operator names.

No task is retried: what is left of one that failed is an attempt that nobody can read, and the next
attempt has other keys.
"""

import importlib.util
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.errors import Unavailable
from penstock.services.noise.long_vectors.spread.chunk_work import carried_out
from penstock.settings import PREFIX

PATIENCE = 600.0
"""Seconds without any finished chunk after which a cluster is given up."""

CONNECTING = 5.0
"""Seconds until a cluster must have accepted a connection; Ray itself tries for minutes."""

_connecting = threading.Lock()


def results(address: str, works: Sequence[str]) -> list[str]:
    """Return what came of each work.  Raises ``Unavailable`` if the cluster fails."""
    ray = _connected(address)
    task = ray.remote(max_retries=0)(carried_out)
    tasks = [task.remote(work) for work in works]
    try:
        pending = tasks
        while pending:
            done, pending = ray.wait(pending, timeout=PATIENCE)
            if not done:
                raise _failed(f"no chunk was drawn in {PATIENCE:,.0f} seconds")
            ray.get(done)
    except ray.exceptions.RayError as problem:
        # Its text may quote what the task was given.
        raise _failed(type(problem).__name__) from None
    finally:
        _end(ray, tasks)
    return [str(result) for result in ray.get(tasks)]


def _end(ray: Any, tasks: Sequence[Any]) -> None:
    """Let no task write after this, if the cluster still answers."""
    running = ray.wait(tasks, num_returns=len(tasks), timeout=0)[1]
    for task in running:
        ray.cancel(task)
    if running:
        ray.wait(running, num_returns=len(running), timeout=PATIENCE)


def _connected(address: str) -> Any:
    """Return Ray, connected to a cluster.  Raises ``Unavailable``."""
    if importlib.util.find_spec("ray") is None:
        raise Unavailable(
            "PENSTOCK_RAY_ADDRESS names a Ray cluster, which needs the package ray: run `pip"
            " install 'penstock[ray]'`, or empty the setting. Nothing was drawn."
        )
    # Nothing is told to Ray's makers; and imported late, it takes a second.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    with _connecting:
        if not ray.is_initialized():
            _require_listening(address)
            own: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
            try:
                with _own_variables_kept():
                    ray.init(address, log_to_driver=False, configure_logging=False, **own)
            except (ray.exceptions.RayError, OSError, ValueError, RuntimeError) as problem:
                raise _failed(f"it cannot be used ({type(problem).__name__})") from None
    return ray


@contextmanager
def _own_variables_kept() -> Iterator[None]:
    """Start Ray's processes without the variables of this server, which hold connections.

    Other programs of the account can read the environment of Ray's processes, and not that of a
    worker.  Nothing reads these variables after the start of a server.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    for name in own:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.update(own)


def _require_listening(address: str) -> None:
    """Raise ``Unavailable`` if nothing listens at HOST:PORT; other addresses are Ray's matter."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECTING).close()
        except (OSError, OverflowError) as problem:
            raise _failed(f"it cannot be reached ({type(problem).__name__})") from None


def _failed(what: str) -> Unavailable:
    return Unavailable(
        f"The Ray cluster, which draws long vectors, failed: {what}. Nothing was released; request"
        " it again, or ask the operator to look at the cluster and PENSTOCK_RAY_ADDRESS."
    )
