"""Read files of a web server: of hosts that the connection names, and of nowhere else.

A redirect is not followed: it would lead a request, and a token with it, to where the operator did
not allow it, also to services of the server's own network.  A file is read if the server gives it a
strong entity tag, answers requests for ranges, and keeps to both; others are refused, since their
bytes would have to be hashed three times for each answer and could still change in between.
"""

import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.parse import quote

from penstock.connectors.storage.access import HttpAccess
from penstock.connectors.storage.address import Address
from penstock.connectors.storage.failures import Missing, Replaced, missing
from penstock.connectors.storage.stores.objects import StoredObject
from penstock.errors import InvalidInput, Unavailable

_SECONDS: Final = 60.0


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect: the answer is then an error with the status of the redirect."""


class Host:
    """Read files of one host."""

    def __init__(self, address: Address, access: HttpAccess) -> None:
        self.root = address.root
        self._access = access
        # Without a proxy of the environment, which would see the token.
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _NoRedirect(),
        ):
            self._opener.add_handler(handler)

    def under(self, folder: str) -> Iterator[StoredObject]:
        """Refuse: a web server lists no files."""
        raise missing(f"A web server lists no files; name one, or a manifest, not {folder!r}.")

    def head(self, name: str) -> StoredObject:
        """Return the file of this name.  Raises ``Missing``."""
        with self._answer(name, "HEAD") as answer:
            return self._item(name, answer)

    def read(self, item: StoredObject, begin: int, end: int) -> bytes:
        """Return bytes of this version of the file.  Raises ``Missing``, ``Replaced``."""
        headers = {"Range": f"bytes={begin}-{end - 1}", "If-Match": item.tag}
        with self._answer(item.name, "GET", headers) as answer:
            if answer.headers.get("ETag") != item.tag:
                raise Replaced("It was replaced.")
            if answer.status != 206:
                raise self._refusal("answers no requests for ranges of a file")
            try:
                content = answer.read(end - begin + 1)  # no more, however much it sends
            except (HTTPException, OSError):
                raise self._unreachable() from None
        if len(content) != end - begin:
            raise self._unreachable()
        return content

    def _item(self, name: str, answer: HTTPResponse) -> StoredObject:
        tag, size = answer.headers.get("ETag", ""), answer.headers.get("Content-Length", "")
        if not tag.startswith('"') or not size.isdecimal():
            raise self._refusal(
                "gives the file no strong entity tag (ETag) with its length, by which its version"
                " is recognized"
            )
        return StoredObject(name, int(size), tag)

    def _answer(
        self, name: str, method: str, headers: dict[str, str] | None = None
    ) -> HTTPResponse:
        sent = {"Accept-Encoding": "identity", "User-Agent": "penstock", **(headers or {})}
        if self._access.bearer_token is not None:
            sent["Authorization"] = f"Bearer {self._access.bearer_token.get_secret_value()}"
        # The scheme is http or https: ``address.parsed`` allows no other.
        request = urllib.request.Request(  # noqa: S310
            self.root + quote(name), headers=sent, method=method
        )
        try:
            answer: HTTPResponse = self._opener.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as problem:
            with problem:
                raise self._status(problem.code) from None
        except (HTTPException, OSError):
            raise self._unreachable() from None
        return answer

    def _status(self, status: int) -> Exception:
        if status in {404, 410}:
            return Missing("It is not there.")
        if status == 412:
            return Replaced("It was replaced.")
        if 300 <= status < 400:
            return self._refusal("redirects to another address, which is not followed")
        if status in {401, 403}:
            return Unavailable(
                f"The server of {self.root} refuses the connection's credentials ({status})."
                " Nothing was released."
            )
        return Unavailable(
            f"The server of {self.root} answers with the status {status}. Nothing was released;"
            " ask again later."
        )

    def _refusal(self, what: str) -> InvalidInput:
        return missing(
            f"The server of {self.root} {what}. Put the file into a bucket, or onto the machine on"
            " which Penstock runs."
        )

    def _unreachable(self) -> Unavailable:
        return Unavailable(
            f"The server of {self.root} cannot be reached, or does not answer in time. Nothing was"
            " released; ask again later."
        )
