"""Render answers as JSON: views directly, times in UTC with Z, vectors without a copy as lists.

An answer of more than ``STREAMED`` bytes is rendered while it is sent, so that its text never
exists as a whole.  It has the same bytes, but no ``Content-Length``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from fractions import Fraction
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import orjson
from flask import Response
from werkzeug.datastructures import Headers

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

PART = 4096
"""Number of items of a long list that are rendered at once."""

STREAMED = 1 << 20
"""The size in bytes up to which an answer is rendered before its first byte is sent."""

BLOCK = 1 << 16
"""The least size in bytes of what is sent at once, except for the last."""

MEDIA_TYPE = "application/json"
LINES = "application/jsonl"
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


def rendered(value: object) -> bytes:
    """Return ``value`` as JSON in UTF-8.  Views are dataclasses; vectors are numpy arrays.

    Raises what reading a long vector's values raises.
    """
    try:
        return orjson.dumps(value, default=_plain, option=_OPTIONS)
    except orjson.JSONEncodeError as problem:
        if isinstance(problem.__cause__, PenstockError):
            raise problem.__cause__ from None
        raise


class _Whole(Response):
    """Hold an answer whose length and body are final, so that no header is looked at again."""

    def __init__(self, body: bytes, status: int, media_type: str) -> None:
        headers = Headers([("Content-Type", media_type), ("Content-Length", str(len(body)))])
        super().__init__([body], status, headers)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Send it; its headers alone for HEAD, as any other answer."""
        if environ["REQUEST_METHOD"] == "HEAD" or self._on_close:
            return super().__call__(environ, start_response)
        start_response(self.status, self.headers.to_wsgi_list())
        return self.iter_encoded()


def json_answer(value: object, status: int) -> Response:
    """Return an answer with ``value`` rendered as JSON: streamed if it is long.

    What cannot be rendered raises here if it is within the first ``STREAMED`` bytes.  ``value``
    must not need a transaction: the rest is rendered after the request.
    """
    if not _has_long_list(value):
        return _Whole(rendered(value), status, MEDIA_TYPE)
    return sent(blocks_of(value), status, MEDIA_TYPE)


def sent(blocks: Iterator[bytes], status: int, media_type: str) -> Response:
    """Return an answer of ``blocks``, which are made while it is sent if they are long together."""
    begun: list[bytes] = []
    size = 0
    for block in blocks:
        begun.append(block)
        size += len(block)
        if size > STREAMED:
            return Response(_joined(begun, blocks), status, mimetype=media_type)
    return Response(b"".join(begun), status, mimetype=media_type)


def _joined(begun: Sequence[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from begun
    yield from rest


def blocks_of(value: object) -> Iterator[bytes]:
    """Yield what ``rendered`` returns, in blocks, with ``PART`` items of each long list at once."""
    parts: list[bytes] = []
    size = 0
    for part in _parts(value):
        parts.append(part)
        size += len(part)
        if size >= BLOCK:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _parts(value: object) -> Iterator[bytes]:
    if not _has_long_list(value):
        yield rendered(value)
    elif isinstance(value, np.ndarray | Sequence):
        yield b"["
        for start in range(0, len(value), PART):
            if start:
                yield b","
            yield rendered(value[start : start + PART])[1:-1]
        yield b"]"
    else:
        between = b"{"
        for name, child in _fields(value):
            yield between + rendered(name) + b":"
            yield from _parts(child)
            between = b","
        yield b"}"


_SCALARS = frozenset({str, bytes, int, float, bool, type(None), datetime})
"""Most fields of views: asking each of them for more would take longer than rendering it."""


def _has_long_list(value: object) -> bool:
    """Return True for a list of more than ``PART`` items, and for a view with one in it."""
    kind = type(value)
    if kind in _SCALARS:
        return False
    if _is_list(kind):  # type: ignore[arg-type]  # a class is hashable
        return len(value) > PART  # type: ignore[arg-type]  # as its class says
    children = _children(kind)  # type: ignore[arg-type]  # a class is hashable
    if children is not None:
        for child in children(value):
            if type(child) not in _SCALARS and _has_long_list(child):
                return True
    return False


@cache
def _is_list(kind: type) -> bool:
    """Return True for a class of lists, asked once: a view's classes are few."""
    return issubclass(kind, np.ndarray | Sequence) and not issubclass(kind, str | bytes)


@cache
def _children(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """Return what takes the fields of a view of this class; None for anything else."""
    names = _names(kind)
    if not names:
        return None
    # Of a single name it would return no tuple.
    return attrgetter(*names, names[0])


def _fields(value: object) -> Iterator[tuple[str, object]]:
    for name in _names(type(value)):  # type: ignore[arg-type]  # a class is hashable
        yield name, getattr(value, name)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a class; none if its values are no views."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def lines_answer(items: Iterable[object]) -> Response:
    """Return an answer that streams one JSON object per line."""
    parts = (orjson.dumps(item, option=_OPTIONS | orjson.OPT_APPEND_NEWLINE) for item in items)
    return Response(parts, mimetype=LINES)


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        # A lazy list may take more memory than its JSON text: render it in parts.
        parts = (
            orjson.dumps(list(value[start : start + PART]), default=_plain, option=_OPTIONS)[1:-1]
            for start in range(0, len(value), PART)
        )
        return orjson.Fragment(b"[" + b",".join(parts) + b"]")
    raise TypeError(f"{type(value).__name__} has no form in JSON")
