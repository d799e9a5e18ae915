"""Read a form of multipart/form-data: its fields, and then the one file that ends it.

Flask would write the file to a temporary folder before anybody sees the form's key.  Here the key
is checked first, and the file's bytes go on as they arrive; Werkzeug's decoder reads the parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from flask import Request
from gunicorn.http.errors import ParseException
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData

from penstock.http.intake.sockets import Socket

FILE = "file"
"""The name of the field with the file."""

MOST_PARTS = 16
PIECE = 64 * 1024
LONGEST_BUFFER = 4 * PIECE
GOES_ON_AFTER = 16 * 1024 * 1024
"""The bytes after which a client gets the whole of its time again, since a file may be long."""

_CUT_SHORT: tuple[type[Exception], ...] = (OSError, ValueError, ParseException)
"""Exceptions that reading raises if the connection breaks or the chunks are malformed."""


@dataclass(frozen=True)
class Upload:
    """Hold a form: ``fields``, and the file's name and bytes, which can be read once.

    ``name`` is what the client says, and empty if no file was chosen.  ``pieces`` raises
    ``RequestEntityTooLarge``, and ``BadRequest`` if the form ends early or goes on after the file.
    """

    fields: MultiDict[str, str]
    name: str
    pieces: Iterator[bytes]


def opened(request: Request, largest_fields: int) -> Upload:
    """Read the fields of a form, which have at most so many bytes, up to its file.

    A form that is not of parts has no file.  Raises ``RequestEntityTooLarge`` for a form that
    states a length above the request's limit, or has larger fields, and ``BadRequest``.
    """
    boundary = request.mimetype_params.get("boundary", "")
    if request.mimetype != "multipart/form-data" or not boundary.isascii() or not boundary:
        request.max_content_length = largest_fields
        return Upload(request.form, "", iter(()))
    fields, size = MultiDict[str, str](), 0
    events = _events(request, boundary.encode())
    name, content = "", bytearray()
    for event in events:
        if isinstance(event, File):
            if event.name != FILE:
                raise BadRequest
            return Upload(fields, event.filename, _content(events))
        if isinstance(event, Field):
            name, content = event.name or "", bytearray()
        elif isinstance(event, Data):
            content += event.data
            size += len(event.data)
            if size > largest_fields:
                raise RequestEntityTooLarge
            if not event.more_data:
                fields.add(name, content.decode(errors="replace"))
    return Upload(fields, "", iter(()))


def _content(events: Iterator[Event]) -> Iterator[bytes]:
    """Yield the bytes of the file that was begun, and require that the form ends with it."""
    for event in events:
        if not isinstance(event, Data):
            raise BadRequest
        if event.data:
            yield event.data
        if not event.more_data:
            break
    for event in events:
        if not isinstance(event, Epilogue):
            raise BadRequest


def _events(request: Request, boundary: bytes) -> Iterator[Event]:
    """Yield the parts of a form as they arrive, to its end.  Raises ``BadRequest``."""
    decoder = MultipartDecoder(boundary, LONGEST_BUFFER, max_parts=MOST_PARTS)
    for piece in _pieces(request):
        try:
            decoder.receive_data(piece)
            while not isinstance(event := decoder.next_event(), NeedData):
                yield event
                if isinstance(event, Epilogue):
                    return
        except ValueError as problem:
            raise BadRequest from problem


def _pieces(request: Request) -> Iterator[bytes | None]:
    """Yield the bytes of a body as they arrive, up to the request's limit, and then None."""
    stream, connection = request.stream, request.environ.get("gunicorn.socket")
    read = 0
    while True:
        try:
            piece = stream.read(PIECE)
        except _CUT_SHORT as problem:
            raise BadRequest from problem
        if not piece:
            break
        if isinstance(connection, Socket) and (read + len(piece)) // GOES_ON_AFTER > (
            read // GOES_ON_AFTER
        ):
            connection.go_on()
        read += len(piece)
        yield piece
    yield None
