"""Serve the Python client's wheel at ``/clients/``, so that pip installs it from this server.

It needs no sign-in: the client is public code, and what it may read depends on a token.  The wheel
is built with the distribution (``server/docs/build_hook.py``); a checkout without it has a page
that says so.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from flask import Response, abort, render_template, request

FOLDER = Path(__file__).parents[2] / "wheels"
"""The folder of the built wheel: within the package, also in a checkout."""

KIND = "application/octet-stream"


@dataclass(frozen=True)
class Wheel:
    """Hold a wheel: its file name, its content, and the content's SHA-256 in hexadecimal."""

    name: str
    content: bytes
    digest: str

    @property
    def place(self) -> str:
        """Return the link from ``/clients/``, with the hash that pip verifies."""
        return f"{self.name}#sha256={self.digest}"


class ClientWheel:
    """Hold the newest wheel in a folder; there is none if it was not built."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._wheel: Wheel | None = None

    def wheel(self) -> Wheel | None:
        """Return the wheel, which is read once."""
        if self._wheel is None:
            files = (self._folder or FOLDER).glob("penstock_client-*.whl")
            newest = max(files, key=lambda file: file.stat().st_mtime, default=None)
            if newest is not None:
                content = newest.read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                self._wheel = Wheel(newest.name, content, digest)
        return self._wheel

    def answer(self, name: str = "") -> Response:
        """Return the page that links the wheel, or the wheel itself; else a 404."""
        wheel = self.wheel()
        if not name:
            page = render_template("shared/client_wheel.html", wheel=wheel)
            return Response(page, mimetype="text/html")
        if wheel is None or name != wheel.name:
            abort(404)
        response = Response(wheel.content, mimetype=KIND)
        response.set_etag(wheel.digest)
        response.cache_control.no_cache = True
        response.make_conditional(request)
        return response
