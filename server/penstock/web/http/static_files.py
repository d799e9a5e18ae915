"""Serve stylesheets, scripts and pictures: read once, with a hash of the content in the address.

``vendor`` has third-party files; ``vendor/manifest.json`` lists their versions, licenses and
SHA-256 hashes.
"""

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from flask import Response, abort, request

FOLDER = Path(__file__).parents[1] / "static"
SECONDS = 31_536_000
SERVED = (".css", ".js", ".svg")


@dataclass(frozen=True)
class Asset:
    """Hold one file, and its compressed content, which keeps pages small on slow lines."""

    content: bytes
    compressed: bytes
    kind: str
    tag: str


class Assets:
    """Hold all files below ``FOLDER`` that are served."""

    def __init__(self) -> None:
        files = (path for path in FOLDER.rglob("*") if path.suffix in SERVED)
        self._known = {path.relative_to(FOLDER).as_posix(): _read(path) for path in files}

    def address(self, name: str) -> str:
        """Return a file's address, which changes with its content."""
        return f"{quote(request.script_root)}/static/{name}?v={self._known[name].tag}"

    def answer(self, name: str) -> Response:
        """Return a file, which browsers cache for a year; a 404 if there is none."""
        asset = self._known.get(name)
        if asset is None:
            abort(404)
        response = Response(asset.content, mimetype=asset.kind)
        if request.accept_encodings.quality("gzip") > 0:
            response.data = asset.compressed
            response.content_encoding = "gzip"
        response.vary.add("Accept-Encoding")
        response.set_etag(asset.tag)
        response.cache_control.max_age = SECONDS
        response.cache_control.public = True
        response.make_conditional(request)
        return response


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    compressed = gzip.compress(content, mtime=0)
    return Asset(content, compressed, kind, hashlib.sha256(content).hexdigest()[:16])
