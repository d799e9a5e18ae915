"""Provide everything that a server does and says about a file, but for the answers themselves.

Recorded are the log, every answer over HTTP (with released numbers, and hashes of them,
masked), and every statement that is run on DuckDB and on the server's database (with
ciphertexts masked by their length).  Clock, request ids and noise are fixed.
"""

import io
import json
import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pytest
from sqlalchemy import Engine, event
from tests.api.world import World

from penstock.connectors.duckdb import source
from penstock.http.access_log import Lines

MASKED_FIELDS = {"values", "mean", "nonce", "leaf_hash", "leaf", "checkpoint", "value_hmac"}


def masked(part: Any) -> Any:
    """Return a JSON document without what was released, or a hash of it."""
    if isinstance(part, dict):
        # How far off means are depends on the counts that were released with them.
        hidden = MASKED_FIELDS | ({"error"} if part.get("mean") else set())
        return {name: "masked" if name in hidden else masked(inner) for name, inner in part.items()}
    return [masked(inner) for inner in part] if isinstance(part, list) else part


def _lengths(part: Any) -> Any:
    """Return a statement's parameters without ciphertexts and hashes, however drivers wrap them.

    A signed tree holds the hash of all leaves, and so of what was released.
    """
    part = getattr(part, "obj", part)
    if isinstance(part, str) and part.startswith("penstock/") and part.count("\n") > 3:
        return "a signed tree"
    if isinstance(part, bytes | bytearray):
        return f"{len(part)} bytes"
    if isinstance(part, Mapping):
        return {name: _lengths(inner) for name, inner in part.items()}
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [_lengths(inner) for inner in part]
    return part


@dataclass
class Record:
    """Hold what happened, in its order."""

    happened: list[tuple[str, Any]] = field(default_factory=list)
    log: io.StringIO = field(default_factory=io.StringIO)

    def of(self, kind: str) -> list[Any]:
        """Return everything of one kind."""
        return [what for found, what in self.happened if found == kind]

    def add(self, kind: str, what: Any) -> None:
        self.happened.append((kind, what))

    def call(self, world: World, verb: str, path: str, body: object, by: str) -> None:
        """Make one request, and record its answer."""
        response = world.call(verb, path, body, by=by)
        whole, headers = json.loads(response.data), dict(response.headers)
        answer = masked(whole)
        if answer != whole:
            headers["Content-Length"] = "masked"
        self.add("answer", (verb, path, response.status_code, headers, answer))


def _shown(part: Any) -> Any:
    """Return declared keys as they are; of parameters, which are secrets, the names."""
    if isinstance(part, dict):
        return sorted(part)
    return part.to_pylist() if hasattr(part, "to_pylist") else part


class _Watched:
    """Represent a connection of DuckDB that tells what it is asked to do."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, record: Record) -> None:
        self._connection = connection
        self._record = record

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._connection, name)

        def watched(*arguments: Any) -> Any:
            self._record.add("duckdb", (name, [_shown(part) for part in arguments]))
            return method(*arguments)

        return watched


@contextmanager
def recording(patch: pytest.MonkeyPatch) -> Iterator[Record]:
    """Record what is done within the block."""
    record = Record()
    numbers = iter(range(1_000_000))
    patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers), version=4))
    connect = source.connect
    patch.setattr(
        source, "connect", lambda *more, **named: _Watched(connect(*more, **named), record)
    )

    def statement(_: Any, __: Any, text: str, parameters: Any, *___: Any) -> None:
        record.add("database", (text, _lengths(parameters)))

    handler = logging.StreamHandler(record.log)
    handler.setFormatter(Lines())
    handler.addFilter(_at_the_start)
    logger = logging.getLogger("penstock")
    level, handlers = logger.level, logger.handlers
    # A test before this one may have configured the log of its own server.
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG)
    event.listen(Engine, "before_cursor_execute", statement)
    try:
        yield record
    finally:
        event.remove(Engine, "before_cursor_execute", statement)
        logger.handlers = handlers
        logger.setLevel(level)


def _at_the_start(line: logging.LogRecord) -> bool:
    line.created = 0.0
    return True
