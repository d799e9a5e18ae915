"""Render answers as JSON: views directly, times in UTC with Z, vectors without a copy as lists."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import orjson
from flask import Response

PART = 4096
"""Number of items of a long list that are rendered at once."""

MEDIA_TYPE = "application/json"
LINES = "application/jsonl"
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


def rendered(value: object) -> bytes:
    """Return ``value`` as JSON in UTF-8.  Views are dataclasses; vectors are numpy arrays."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def json_answer(value: object, status: int) -> Response:
    """Return an answer with ``value`` rendered as JSON."""
    return Response(rendered(value), status, mimetype=MEDIA_TYPE)


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
