"""Read documents of an issuer, and send forms to it, within bounds of time and length.

Everybody can make the server do it before they are signed in; ``README.md`` has the reasons.
"""

import http.client
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import IO

_LONGEST_DOCUMENT = 1 << 20
_TIMEOUT = 3.0
_DEADLINE = 5.0
"""Longest time for a whole document, in seconds, however slowly it arrives."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects: one could lead to any host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def fetched(address: str) -> bytes:
    """Return the document at an address.

    Raises ``OSError``, after ``_DEADLINE`` seconds at the latest, also for an error's status.
    """
    return _sent(urllib.request.Request(address))[1]  # noqa: S310 - ``Issuer`` checks addresses


def posted(address: str, body: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Return the status and the content of the answer to a form.

    Raises ``OSError``, after ``_DEADLINE`` seconds at the latest.
    """
    request = urllib.request.Request(address, body.encode(), dict(headers))  # noqa: S310 - as above
    return _sent(request, errors=True)


def _sent(request: urllib.request.Request, *, errors: bool = False) -> tuple[int, bytes]:
    answers: list[tuple[int, bytes] | OSError] = []

    def read() -> None:
        try:
            answers.append(_read(request))
        except urllib.error.HTTPError as problem:
            refused = OSError(f"HTTPError {problem.code}")
            answers.append(_answer(problem.code, problem) if errors else refused)
        except (OSError, ValueError, http.client.HTTPException) as problem:
            answers.append(OSError(f"{type(problem).__name__} while it was read"))

    # Socket timeouts restart with every byte, and name lookups have none: bound both by a thread.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_DEADLINE)
    if not answers:
        raise OSError(f"the document did not arrive within {_DEADLINE:g} s")
    if isinstance(answers[0], OSError):
        raise answers[0]
    return answers[0]


def _read(request: urllib.request.Request) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=_TIMEOUT) as answer:
        return _answer(answer.status, answer)


def _answer(status: int, answer: IO[bytes]) -> tuple[int, bytes]:
    content = answer.read(_LONGEST_DOCUMENT + 1)
    if len(content) > _LONGEST_DOCUMENT:
        raise OSError(f"the document is longer than {_LONGEST_DOCUMENT} bytes")
    return status, content
