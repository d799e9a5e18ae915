"""Serve below a path of the host, where the public URL has one.

A proxy passes requests on with the path that they came with.  What comes without it (health, asked
for on the machine itself, or monitoring) is answered as well; every address that is written into
an answer has it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def prefix_of(public_url: str) -> str:
    """Return the path of a URL, without a slash at its end; empty where it has none."""
    return unquote(urlsplit(public_url).path).rstrip("/")


class Mounted:
    """Serve ``app`` as it is reached under ``prefix``."""

    def __init__(self, app: "WSGIApplication", prefix: str) -> None:
        self._app = app
        # As WSGI has it: bytes in UTF-8, each as the character of its number.
        self._prefix = prefix.encode().decode("latin-1")

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer one request, whose path the application is to see without the prefix."""
        path = environ.get("PATH_INFO", "")
        environ["SCRIPT_NAME"] = self._prefix
        if self._prefix and (path == self._prefix or path.startswith(f"{self._prefix}/")):
            environ["PATH_INFO"] = path[len(self._prefix) :] or "/"
        return self._app(environ, start_response)
