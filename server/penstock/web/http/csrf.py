"""Which browser may send a form, and whether it keeps a session's cookie.

The cookie is called ``__Host-...``: browsers keep such a one only if it is Secure, is for
this host alone and for all of its paths, so that no other host of a domain can set it.  It
is SameSite=Strict, since some pages here are recorded in the log when they are looked at,
so that not even a link on another site may open one in somebody's name; whoever comes by
such a link goes on from the sign-in page, which is ours.

A form also has to come from our own address, by its ``Origin``, which every browser sends
with one; and it carries a key that only the session's pages know.
"""

import ipaddress
from urllib.parse import urlsplit

from penstock.errors import Forbidden
from penstock.settings import Settings

COOKIE = "__Host-penstock"
LONGEST_SHOWN = 200


class Origin:
    """The address of the pages, as the settings have it."""

    def __init__(self, settings: Settings) -> None:
        parts = urlsplit(settings.public_url)
        self._own = f"{parts.scheme}://{parts.netloc}".lower()
        self._here = _is_loopback(parts.hostname or "")
        self.keeps_cookies = parts.scheme == "https" or self._here
        """Browsers keep Secure cookies where nobody on the way can read them."""

    def require(self, origin: str | None, host: str) -> None:
        """Raise ``Forbidden`` unless a form comes from our own pages.

        ``host`` is the one that was asked.  A server that is reached on its own machine may
        be called by any of the names of that.
        """
        sent = (origin or "").lower()
        if sent == self._own:
            return
        parts = urlsplit(sent)
        if self._here and parts.netloc == host.lower() and _is_loopback(parts.hostname or ""):
            return
        source = f"from {sent[:LONGEST_SHOWN]}" if sent else "without saying from where"
        raise Forbidden(
            f"The form came {source}, and the pages of this server are at {self._own};"
            " nothing was done. Open that address; where the server is reached by another one,"
            " the operator sets PENSTOCK_PUBLIC_URL."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def inside(address: str | None, root: str = "") -> str:
    """An address on this server, below ``root``, to go on to; else the catalogue's."""
    path = address or ""
    plain = path.isprintable() and "\\" not in path
    if plain and path.startswith(f"{root}/") and not path.startswith(f"{root}//"):
        return path
    return f"{root}/catalogue"
