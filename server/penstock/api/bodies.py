"""Read request bodies from the stream as strict JSON, up to a limit, without storing them.

Flask would cache what it reads on its request.  A pushed vector is exact data, so the
bytes, the parsed document and the model live in local variables alone.
"""

import json
from typing import Any

import orjson
from flask import Request
from gunicorn.http.errors import ParseException
from pydantic import TypeAdapter, ValidationError
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from penstock.connectors.planning.refusals import invalid_input
from penstock.errors import InvalidInput, MalformedInput, PenstockError

CHUNK = 1024 * 1024
STALLED_SECONDS = 30.0
"""Longest silence of a client in the middle of a body, in seconds."""

LARGE_BODY_PATIENCE_SECONDS = 60.0
"""Longest wait of a large body for the previous one in this process, in seconds."""

DEEPEST = 64
"""The most levels of nesting; valid bodies have fewer than ten."""

SPARE_PLACES = 1_000_000
_CUT_SHORT: tuple[type[Exception], ...] = (OSError, ValueError, ParseException)
"""Exceptions that reading raises if the connection breaks or the chunks are malformed."""

_MEDIA_TYPE = "application/json"


def require_json(request: Request) -> None:
    """Raise ``UnsupportedMediaType`` unless the body is declared to be plain JSON in UTF-8."""
    environ = request.environ
    if environ.get("CONTENT_TYPE") == _MEDIA_TYPE and "HTTP_CONTENT_ENCODING" not in environ:
        return  # what nearly everybody sends
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    encoding = request.headers.get("Content-Encoding", "identity").lower()
    if request.mimetype != _MEDIA_TYPE or charset != "utf-8" or encoding != "identity":
        raise UnsupportedMediaType


def read(request: Request, limit: int) -> bytearray:
    """Return the body's bytes, at most ``limit`` of them, chunked or not.

    Raises ``RequestEntityTooLarge``, and ``BadRequest`` if the body ends early.
    """
    declared = _declared(request)
    if declared is not None and declared > limit:
        raise RequestEntityTooLarge
    expected = limit + 1 if declared is None else declared
    raw = bytearray()
    # gunicorn's sockets have no timeout: each stalled client would block a thread forever.
    connection = request.environ.get("gunicorn.socket")
    before = None
    if connection is not None:
        before = connection.gettimeout()
        connection.settimeout(STALLED_SECONDS)
    try:
        while len(raw) < expected:
            chunk = request.environ["wsgi.input"].read(min(CHUNK, expected - len(raw)))
            if not chunk:
                break
            raw += chunk
    except _CUT_SHORT as problem:
        raise BadRequest from problem
    finally:
        if connection is not None:
            connection.settimeout(before)
    if len(raw) > limit:
        raise RequestEntityTooLarge
    if declared is not None and len(raw) < declared:
        raise BadRequest
    return raw


def _declared(request: Request) -> int | None:
    """Return the declared length of the body; ``None`` for a chunked body."""
    length = request.content_length
    if length is None and not request.environ.get("wsgi.input_terminated"):
        return 0
    return length


# Errors of the two libraries contain the whole input.  Ours are therefore raised outside the
# ``except`` blocks, so that theirs are not attached as their context.


def model(raw: bytearray, adapter: TypeAdapter[Any], *, strict_below: int, most_values: int) -> Any:
    """Return the JSON document in ``raw`` as the model that ``adapter`` describes.

    Refuses what JSON does not have (NaN, Infinity, invalid UTF-8), nesting that is too deep, and
    far more than ``most_values`` values; in bodies of at most ``strict_below`` bytes also a name
    that occurs twice in one object.  Raises ``MalformedInput``, which names the place and quotes
    nothing of the body, and ``InvalidInput`` with a JSON pointer for each wrong place.
    """
    if not raw:
        raise MalformedInput("The body is empty; send a JSON object, {} if no field is needed.")
    # Counted before parsing: two bytes of JSON can become a list of sixty-four bytes.
    places = raw.count(b",") + raw.count(b"[") + raw.count(b"{")
    if places > 4 * most_values + SPARE_PLACES:
        raise MalformedInput(
            f"The body has {places:,} commas and brackets, far more than the {most_values:,}"
            " values of the largest query need; split it."
        )
    document: object = None
    refusal: PenstockError | None = None
    try:
        document = orjson.loads(raw)
    except orjson.JSONDecodeError as problem:
        refusal = MalformedInput(_where(problem))
    if refusal is not None:
        raise refusal
    _refuse_deep(document)
    # Every name has a colon after it: with one name there is none twice.
    if len(raw) <= strict_below and raw.count(b":") > 1:
        json.loads(raw, object_pairs_hook=_distinct, parse_int=float)
    try:
        return adapter.validate_python(document)
    except ValidationError as error:
        refusal = invalid_input(error)
    except InvalidInput as error:
        refusal = error
    raise refusal


def _where(problem: orjson.JSONDecodeError) -> str:
    if "limit" in problem.msg.lower():
        return f"The body nests deeper than {DEEPEST} levels."
    return f"The body is not JSON: line {problem.lineno}, column {problem.colno}."


def _refuse_deep(content: object) -> None:
    level = [content]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise MalformedInput(f"The body nests deeper than {DEEPEST} levels.")


def _distinct(pairs: list[tuple[str, object]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise MalformedInput("A name occurs twice in one object of the body; keep one of the two.")
