"""Check which servers a token may be sent to, and write names into paths."""

import ipaddress
from urllib.parse import SplitResult, quote, urlsplit

from penstock_client.errors import InvalidArgument

DEFAULT = "http://127.0.0.1:8080"
"""The address at which ``penstock serve`` listens by default."""


def checked_url(url: str, *, insecure: bool) -> str:
    """Return ``url`` without a slash at its end.

    Raises ``InvalidArgument`` for anything but http(s)://host[:port][/path], for a
    password in the URL (it would be logged), and for plain http to another machine
    unless ``insecure``.  No message repeats the URL, since it may contain a secret.
    """
    parts = _split(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidArgument("The server's URL must look like https://penstock.example.org.")
    if "@" in parts.netloc:
        raise InvalidArgument(
            "The server's URL contains a user name or password; pass the token by"
            " PENSTOCK_TOKEN or token= instead."
        )
    if parts.query or parts.fragment:
        raise InvalidArgument("The server's URL may contain a path, but no ? and no #.")
    if parts.scheme == "http" and not insecure and not is_loopback(url):
        raise InvalidArgument(
            f"Plain http to {parts.hostname} would let others on the network read the token."
            " Use https, or allow it with insecure=True (--insecure)."
        )
    return url.rstrip("/")


def is_loopback(url: str) -> bool:
    """Return True if the URL's host is this machine, by name or address."""
    host = _split(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def segment(name: str) -> str:
    """Return a name as one part of a path."""
    if not name or name in (".", ".."):
        raise InvalidArgument("A name has at least one character, and is neither . nor ..")
    return quote(name, safe="")


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        raise InvalidArgument("The server's URL has a malformed host or port.") from None
    # urlsplit drops line ends and tabs; httpx refuses them, with the whole URL in its message.
    if any(character.isspace() or not character.isprintable() for character in url):
        raise InvalidArgument("The server's URL contains a space or a control character.")
    return parts
