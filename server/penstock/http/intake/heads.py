"""Count the bytes of a request, if its head states them unambiguously.

This only decides which thread reads a request, and when.  gunicorn parses the same bytes again, and
decides; ambiguous requests are left to it, on a separate thread.
"""

import re
from dataclasses import dataclass

END = b"\r\n\r\n"
LONGEST_HEAD = 32 * 1024
LONGEST_BODY = 128 * 1024
"""Larger than any form without a file of data."""

_LINE = re.compile(rb"[A-Z]{1,16} (/[^ \r\n]{0,8000}) HTTP/1\.[01]\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]{0,8}([0-9]{1,12})[ \t]{0,8}\r\n")
_WAITS = b"\r\nexpect: 100-continue\r\n"
_READ_ON = (b"transfer-encoding", b"expect")

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class Extent:
    """Hold the path and the number of bytes of a request.

    ``whole`` is None if there are too many bytes to be kept, or if only reading the body shows
    their number.  A client that ``waits`` sends its body only when it is told to continue.
    """

    path: str
    whole: int | None
    waits: bool = False


def extent(head: bytes) -> Extent:
    """Read ``head``, a request's bytes up to and including the empty line after its fields."""
    line = _LINE.match(head)
    if line is None:
        return Extent("", None)
    path = line[1].partition(b"?")[0].decode("latin-1")
    fields = head[line.end() - 2 :].lower()
    waits = fields.count(_WAITS) == 1
    if waits:
        fields = fields.replace(_WAITS, b"\r\n")
    if any(name in fields for name in _READ_ON):
        return Extent(path, None)
    lengths = fields.count(b"content-length")
    if not lengths:
        return Extent(path, len(head))
    length_fields = _LENGTH.findall(fields)
    if lengths > 1 or len(length_fields) != 1 or int(length_fields[0]) > LONGEST_BODY:
        return Extent(path, None)
    return Extent(path, len(head) + int(length_fields[0]), waits)
