"""Run a child: ``python -m penstock.computing.child MODULE SECONDS MEMORY``.

``MODULE`` has ``JOBS``, functions of a document of arguments by name, and ``forget``, which
drops what it keeps from one computation to the next.  A thread reads the requests, so that
a child ends with its parent, also in the middle of a computation: then the pipe ends.
"""

import gc
import importlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import BinaryIO, Protocol

from penstock.computing import bounds, frames
from penstock.computing.frames import Document
from penstock.errors import PenstockError, described

READY = {"ready": True}


class Module(Protocol):
    """Describe a module whose jobs a child runs."""

    JOBS: Mapping[str, Callable[[Document], Document]]

    def forget(self) -> None:
        """Drop what is kept from one computation to the next."""


def serve(module: Module, seconds: float, source: BinaryIO, target: BinaryIO) -> None:
    """Answer one request after the other, until the pipe ends."""
    simple_queue: queue.SimpleQueue[Document] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(source, simple_queue), daemon=True).start()
    _say(target, READY)
    while True:
        request = simple_queue.get()
        if request["fresh"]:
            module.forget()
        bounds.allow(seconds)
        before = time.process_time()
        document = _worked_out(module.JOBS[request["job"]], request["document"])
        _say(target, {**document, "seconds": time.process_time() - before})
        if "memory" in document:
            # Memory is fragmented now: a new child starts clean.
            os._exit(0)


def _worked_out(job: Callable[[Document], Document], document: Document) -> Document:
    try:
        return {"answer": job(document)}
    except PenstockError as problem:
        return {"problem": described(problem)}
    except MemoryError:
        gc.collect()
        return {"memory": True}


def _listen(source: BinaryIO, simple_queue: "queue.SimpleQueue[Document]") -> None:
    while (request := frames.read(source)) is not None:
        simple_queue.put(request)
    os._exit(0)


def _say(target: BinaryIO, document: Document) -> None:
    target.write(frames.written(document))
    target.flush()


def main() -> None:
    """Import the module, set the bounds, and serve."""
    name, seconds, memory = sys.argv[1:]
    module: Module = importlib.import_module(name)
    bounds.bind(int(memory))
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a print must not come between frames
    serve(module, float(seconds), sys.stdin.buffer, target)


if __name__ == "__main__":
    main()
