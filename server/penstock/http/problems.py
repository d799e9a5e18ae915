"""Turn errors into RFC 9457 problem documents: the one place where an error becomes a status.

A problem repeats the message of our own error, never the text of a library: errors of Flask and
Werkzeug get messages of ours, and anything else is a 500 without a detail, made at the edge.
"""

import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from flask import Response
from werkzeug.exceptions import HTTPException, NotAcceptable

from penstock.errors import (
    Busy,
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    IntegrityViolation,
    InvalidInput,
    MalformedInput,
    NotAuthenticated,
    NotFound,
    PenstockError,
    TooManyRequests,
    Unavailable,
)
from penstock.http import access_log
from penstock.http.answers import rendered

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 2

STATUSES: Mapping[type[PenstockError], int] = {
    InvalidInput: 422,
    MalformedInput: 400,
    NotAuthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    TooManyRequests: 429,
    IntegrityViolation: 503,
    Unavailable: 503,
}

_WORDS: Mapping[int, tuple[str, str, str]] = {
    400: (MalformedInput.code, MalformedInput.title, "The request was cut short, or is malformed."),
    404: (
        NotFound.code,
        NotFound.title,
        "Nothing is served at this address; /docs lists what is.",
    ),
    405: (
        "METHOD_NOT_ALLOWED",
        "The method is not allowed here",
        "This address does not take that method; the Allow header names those that it takes.",
    ),
    406: (
        "NOT_ACCEPTABLE",
        "None of the requested formats is served",
        "The API's documentation lists the formats of each address.",
    ),
    408: (
        "REQUEST_TIMEOUT",
        "The request took too long to arrive",
        (
            "The request did not arrive completely in the time that the server waits; nothing"
            " was done. Send it again, or ask the operator for a longer"
            " PENSTOCK_CLIENT_PATIENCE."
        ),
    ),
    411: (
        "LENGTH_REQUIRED",
        "The length of the form is not stated",
        "A form must state its length in Content-Length, as browsers do. Nothing was done.",
    ),
    413: (
        "BODY_TOO_LARGE",
        "The request's body is too large",
        (
            "The body is larger than the limit for this address, {limit:,} bytes."
            " Send less, or ask the operator for a higher limit."
        ),
    ),
    414: (
        "ADDRESS_TOO_LONG",
        "The address is too long",
        "The request's first line is too long to be read; send fewer or shorter arguments.",
    ),
    415: (
        "UNSUPPORTED_MEDIA_TYPE",
        "The body is not of a type that is read here",
        "The body must be JSON in UTF-8, not compressed, with Content-Type: application/json.",
    ),
    431: (
        "HEADERS_TOO_LARGE",
        "The headers are too large",
        "The request's headers are too many or too long to be read; send fewer or shorter ones.",
    ),
}

INTERNAL = ("INTERNAL", "Something went wrong", "The server failed; its log says where.")

TITLES: Mapping[int, str] = {
    **{status: kind.title for kind, status in STATUSES.items()},
    **{status: words[1] for status, words in _WORDS.items()},
    500: INTERNAL[1],
    503: Unavailable.title,
}
"""Short title of each documented status."""


def status_of(error: PenstockError) -> int:
    """Return the status of the nearest class that has one."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def of_error(error: PenstockError, request_id: str) -> Response:
    """Return the problem of an error of ours, with the data that it carries."""
    status = status_of(error)
    # The data of a 503 name the server's own files, for the server's log alone.
    data = error.data if status < 500 else {}
    if status >= 500 and "path" in error.data:
        access_log.withheld(request_id, error.code, error.data["path"])
    errors = error.errors if isinstance(error, InvalidInput) else ()
    return _response(status, error.code, error.title, error.detail, request_id, errors, data)


def of_status(status: int, request_id: str, limit: int | None = None) -> Response:
    """Return the problem for a status that Flask or the edge chose."""
    code, title, detail = _WORDS.get(status, _unforeseen(status))
    return _response(status, code, title, detail.format(limit=limit or 0), request_id)


def of_http(error: HTTPException, request_id: str, limit: int | None = None) -> Response:
    """Return the problem for an error of Werkzeug, with its headers (``Allow``)."""
    if isinstance(error, NotAcceptable) and error.description != NotAcceptable.description:
        # It names the formats that this address has.
        code, title, _ = _WORDS[406]
        response = _response(406, code, title, error.description or "", request_id)
    else:
        response = of_status(error.code or 500, request_id, limit)
    for name, value in error.get_headers():
        if name.lower() not in {"content-type", "content-length"}:
            response.headers[name] = value
    return response


def kind(code: str) -> str:
    """Return the problem's type, a relative reference."""
    return "/problems/" + code.lower().replace("_", "-")


def forget(error: BaseException) -> None:
    """Clear the frames of an error: a refused body may be exact data."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        error_seen = pending.pop()
        if error_seen is not None and id(error_seen) not in seen:
            seen.add(id(error_seen))
            traceback.clear_frames(error_seen.__traceback__)
            pending += [error_seen.__cause__, error_seen.__context__]


def _unforeseen(status: int) -> tuple[str, str, str]:
    if status >= 500:
        return INTERNAL
    phrase = HTTPStatus(status).phrase
    return phrase.upper().replace(" ", "_").replace("-", "_"), phrase, f"{phrase}."


def _response(
    status: int,
    code: str,
    title: str,
    detail: str,
    request_id: str,
    errors: Sequence[tuple[str, str]] = (),
    data: Mapping[str, object] | None = None,
) -> Response:
    document: dict[str, object] = {
        "type": kind(code),
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "errors": [{"pointer": pointer, "detail": words} for pointer, words in errors],
        "request_id": request_id,
    }
    response = Response(rendered({**(data or {}), **document}), status, content_type=MEDIA_TYPE)
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer realm="penstock"'
    if code in (Busy.code, DatabaseUnavailable.code):
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if status == 429:
        response.headers["Retry-After"] = str((data or {}).get("retry_after", RETRY_AFTER_SECONDS))
    return response
