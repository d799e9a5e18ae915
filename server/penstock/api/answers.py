"""Answers as JSON: views as they are, times in UTC with Z, vectors without a detour."""

from collections.abc import Mapping
from fractions import Fraction

import orjson
from flask import Response

MEDIA_TYPE = "application/json"
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


def rendered(value: object) -> bytes:
    """``value`` as JSON in UTF-8.  Views are dataclasses; vectors are numpy arrays."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def json_answer(value: object, status: int) -> Response:
    """An answer whose bytes are ready."""
    return Response(rendered(value), status, mimetype=MEDIA_TYPE)


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
