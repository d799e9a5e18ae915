"""Define what a worker inherits from gunicorn's master, told by the worker as soon as it is forked.

A configuration of gunicorn that is the product's, with ``post_fork`` told to look, and broken
variants of it: they are run by gunicorn, not imported.
"""

import gc
import json
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "PENSTOCK_TEST_INHERITED"
NOISE_BYTES: Final = 32

LOOKING: Final = """
from tests.api.served import preloading
_product = post_fork
_stream = None
def post_fork(server, worker):
    _product(server, worker)
    preloading.look(_stream)
"""

OPENED: Final = (
    LOOKING
    + """
_starting = on_starting
def on_starting(server):
    global _app, _stream
    from penstock import application
    from penstock.randomness import Stream
    _starting(server)
    _app = application.create_app()
    key = os.urandom(32)
    _stream = lambda: Stream.from_key(key)
"""
)
"""Opens the home and reads entropy before the fork."""

BARE: Final = LOOKING + "\non_starting = lambda server: _share_memory()\n"
"""Imports nothing before the fork."""


@dataclass(frozen=True)
class Inherited:
    """Hold what one worker had when it was forked.

    ``held`` names the kinds of objects that must be its own, ``threads`` counts those that run,
    ``files`` are those of the home, ``noise`` what its first stream gave.
    """

    imported: bool
    held: list[str]
    threads: int
    files: list[str]
    noise: str


def configuration(product: Path, more: str) -> str:
    """Return the text of a configuration: the product's, and ``more``."""
    return f"exec(compile(open({str(product)!r}).read(), 'product', 'exec'))\n{more}"


def look(stream: Any) -> None:
    """Write down what this process has, in the folder that the environment names."""
    imported = "penstock.application" in sys.modules
    held = _held() if imported else []
    from penstock.randomness import Stream

    drawn = (stream or Stream.fresh)().raw_uint64(NOISE_BYTES // 8)
    found = Inherited(
        imported=imported,
        held=held,
        threads=len([*Path("/proc/self/task").iterdir()]) + threading.active_count() - 1,
        files=_files(Path(os.environ["PENSTOCK_HOME"])),
        noise=drawn.tobytes().hex(),
    )
    place = Path(os.environ[FOLDER]) / str(os.getpid())
    place.with_suffix(".new").write_text(json.dumps(vars(found)))
    place.with_suffix(".new").replace(place.with_suffix(".json"))


def told(folder: Path) -> list[Inherited]:
    """Return what the workers wrote down."""
    return [Inherited(**json.loads(path.read_text())) for path in folder.glob("*.json")]


def _held() -> list[str]:
    from flask import Flask
    from sqlalchemy import Engine

    from penstock.computing import Pool
    from penstock.encryption import Key, KeyRing, Secrets
    from penstock.persistence import Database
    from penstock.randomness import Stream
    from penstock.services.context import Server

    own = (Database, Engine, Flask, Key, KeyRing, Pool, Secrets, Server, Stream)
    gc.unfreeze()
    return sorted({type(one).__name__ for one in gc.get_objects() if isinstance(one, own)})


def _files(home: Path) -> list[str]:
    found = []
    for one in Path("/proc/self/fd").iterdir():
        try:
            target = one.readlink()
        except OSError:  # the one that lists them
            continue
        if target.is_relative_to(home) and target != home / "log":
            found.append(str(target.relative_to(home)))
    return sorted(set(found))
