"""Protect forms against other sites (CSRF), and define the session's cookie.

The cookie's name begins with ``__Host-``: browsers keep such a cookie only if it is Secure and
belongs to this host alone and all of its paths, so no other host of the domain can set it.  It
is SameSite=Strict, because viewing some pages is recorded in the audit log: not even a link on
another site may open one in a user's name.  Users who follow such a link continue from the
sign-in page, which is on this site.

A form must also come from this server's address, by the ``Origin`` that every browser sends
with a form, and it must carry a key that only the session's pages know.
"""

import ipaddress
from urllib.parse import urlsplit

from penstock.errors import Forbidden
from penstock.settings import Settings

COOKIE = "__Host-penstock"
LONGEST_SHOWN = 200


class Origin:
    """Check that forms come from the address of the pages in the settings."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.public_url)
        self._own = f"{parts.scheme}://{parts.netloc}".lower()
        self._here = _is_loopback(parts.hostname or "")
        self.keeps_cookies = parts.scheme == "https" or self._here
        """True if browsers keep Secure cookies: over HTTPS, or on the same machine."""

    def require(self, origin: str | None, host: str) -> None:
        """Raise ``Forbidden`` unless a form comes from this server's pages.

        ``host`` is the host of the request.  If the pages are at a loopback address, any
        loopback name of the same host is accepted.
        """
        sent = (origin or "").lower()
        if sent == self._own:
            return
        parts = urlsplit(sent)
        if self._here and parts.netloc == host.lower() and _is_loopback(parts.hostname or ""):
            return
        source = f"from {sent[:LONGEST_SHOWN]}" if sent else "without an Origin header"
        raise Forbidden(
            f"The form came {source}, but the pages of this server are at {self._own}."
            " Nothing was done. Use the pages at that address; if users reach the server at"
            " another one, the operator must set PENSTOCK_PUBLIC_URL to it."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def inside(address: str | None, root: str = "", otherwise: str = "/home") -> str:
    """Return ``address`` if it is a path on this server below ``root``, else ``otherwise``."""
    path = address or ""
    plain = path.isprintable() and "\\" not in path
    if plain and path.startswith(f"{root}/") and not path.startswith(f"{root}//"):
        return path
    return root + otherwise
