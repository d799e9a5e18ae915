"""Serve below a path of the host, if the public URL has one.

A proxy passes requests on with the path that they came with. Requests without it (monitoring, or
health checks on the machine itself) are answered too; every address that is written into an answer
includes it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def prefix_of(public_url: str) -> str:
    """Return the path of a URL, without a slash at its end; empty if it has none."""
    return unquote(urlsplit(public_url).path).rstrip("/")


class Mounted:
    """Serve ``app`` under ``prefix``."""

    def __init__(self, app: "WSGIApplication", prefix: str) -> None:
        self._app = app
        # As WSGI requires: bytes in UTF-8, each as the character of its number.
        self._prefix = prefix.encode().decode("latin-1")

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer one request, whose path the application sees without the prefix."""
        path = environ.get("PATH_INFO", "")
        environ["SCRIPT_NAME"] = self._prefix
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            environ["PATH_INFO"] = path[len(self._prefix) :] or "/"
        return self._app(environ, start_response)
