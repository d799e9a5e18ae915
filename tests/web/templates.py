"""Compile each template once per process, however many applications the tests make."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from unittest import mock

import flask
from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


class Compiled(BytecodeCache):
    """Keep the code of templates, by their name and content."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        assert bucket.code is not None
        self._known[bucket.key, bucket.checksum] = bucket.code


@contextmanager
def compiled_once() -> Iterator[None]:
    """Let all applications that are made inside the block share the code of their templates."""
    with mock.patch.object(flask.Flask, "jinja_options", {"bytecode_cache": Compiled()}):
        yield
