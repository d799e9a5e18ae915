"""Serve the documentation's site, which was built by MkDocs at installation (``server/docs``).

The files are read once.  Addresses have no hash of the content: browsers ask again each time, and
are answered from their caches if nothing has changed.
"""

import gzip
import hashlib
import mimetypes
from pathlib import Path

from flask import Response, abort, redirect, render_template, request

from penstock.web.http.static_files import Asset

FOLDER = Path(__file__).parents[2] / "site"
"""The folder of the built site: within the package, also in a checkout."""

SERVED = (".css", ".html", ".js", ".json", ".png", ".svg")
COMPRESSED = (*SERVED[:-2], ".svg")
INDEX = "index.html"
POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
"""The content security policy of scripts, which applies to the one that runs as a worker.

The search reads its own scripts and its index, and nothing else.  Pages have that of all pages."""


class Documentation:
    """Hold the pages below a folder; there are none if the site was not built."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._known: dict[str, Asset] | None = None

    def answer(self, name: str = "") -> Response:
        """Return a page or file, a redirect to a page, or a 404."""
        known = self._files()
        if not known and not name:
            return Response(render_template("shared/no_documentation.html"), mimetype="text/html")
        if name and f"{name}/{INDEX}" in known:
            return _onward(f"{request.path.rpartition('/')[2]}/")
        asset = known.get(f"{name}{INDEX}" if not name or name.endswith("/") else name)
        if asset is None:
            abort(404)
        response = Response(asset.content, mimetype=asset.kind)
        if request.accept_encodings.quality("gzip") > 0 and asset.compressed:
            response.data = asset.compressed
            response.content_encoding = "gzip"
        response.vary.add("Accept-Encoding")
        response.set_etag(asset.tag)
        response.cache_control.no_cache = True
        if name.endswith(".js"):
            response.headers["Content-Security-Policy"] = POLICY
        response.make_conditional(request)
        return response

    def root(self) -> Response:
        """Return a redirect to the first page, from which relative links work."""
        return _onward("docs/")

    def _files(self) -> dict[str, Asset]:
        if self._known is None:
            folder = self._folder or FOLDER
            files = (path for path in folder.rglob("*") if path.suffix in SERVED)
            self._known = {path.relative_to(folder).as_posix(): _read(path) for path in files}
        return self._known


def _onward(place: str) -> Response:
    answer = redirect(place, 308)
    answer.autocorrect_location_header = False
    return answer  # type: ignore[return-value]  # Flask's response is Werkzeug's


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    compressed = gzip.compress(content, mtime=0) if path.suffix in COMPRESSED else b""
    return Asset(content, compressed, kind, hashlib.sha256(content).hexdigest()[:16])
