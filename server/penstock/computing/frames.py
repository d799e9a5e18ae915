"""Send one JSON document after another through a pipe: four bytes of length, then UTF-8.

They are JSON and no pickles: reading one runs nothing.
"""

import json
import struct
from typing import Any, BinaryIO, Final

HEAD: Final = struct.Struct(">I")
LONGEST: Final = 64 * 1024 * 1024
"""The most bytes of one document."""

Document = Any
"""A JSON value, with ``NaN`` and ``Infinity``."""


class TooLong(ValueError):
    """Report a document of more than ``LONGEST`` bytes."""


def written(document: Document) -> bytes:
    """Write a document as one frame.  Raises ``TooLong``."""
    body = json.dumps(document, separators=(",", ":")).encode()
    if len(body) > LONGEST:
        raise TooLong(f"a document has {len(body)} bytes, more than {LONGEST}")
    return HEAD.pack(len(body)) + body


def read(source: BinaryIO) -> Document | None:
    """Read one frame; return ``None`` when the pipe has ended."""
    head = source.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (length,) = HEAD.unpack(head)
    body = source.read(length)
    return json.loads(body) if len(body) == length else None


def decoded(body: bytes) -> Document:
    """Read the document of one frame."""
    return json.loads(body)
