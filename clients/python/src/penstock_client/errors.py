"""The one tree of errors.

::

    PenstockError
    ├── InvalidArgument         what was asked for cannot be sent (also a ValueError)
    ├── MissingExtra            a library is not installed (also an ImportError)
    ├── NotReachable            nobody answered
    ├── ProtocolError           somebody answered, and not as the contract says
    ├── LogRefused              the server's log is not the one that was seen before
    └── ApiError                the server said no, and why
        ├── InvalidInput        the request cannot be meant (400, 413, 415, 422)
        ├── NotAuthenticated    no valid token (401)
        ├── Forbidden           the role does not reach so far (403)
        │   └── ClearanceTooLow the level is more accurate than the clearance allows
        ├── NotFound            no such thing, or none that one may see (404)
        ├── Conflict            the present state does not allow it (409)
        │   └── BudgetExhausted the budget does not allow it
        ├── TooManyRequests     slow down (429)
        └── Unavailable         the server cannot serve this now (502, 503, 504)

No error holds the token.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class PenstockError(Exception):
    """The root of everything that this package raises on purpose."""


class InvalidArgument(PenstockError, ValueError):
    """An argument or a setting that cannot be used; nothing was sent."""


class MissingExtra(PenstockError, ImportError):
    """A library that ``method`` needs is not installed; ``extra`` brings it."""

    def __init__(self, extra: str, method: str) -> None:
        super().__init__(extra, method)  # so that it survives the way between processes
        self.extra = extra
        self.method = method

    def __str__(self) -> str:
        needed = f"penstock-client[{self.extra}]"
        return f"{self.method}() needs a library that is not here: pip install '{needed}'."


class NotReachable(PenstockError):
    """No answer came: refused, timed out, cut off, or no such host."""


class ProtocolError(PenstockError):
    """An answer that is not what the contract says.  Is the URL that of a Penstock server?"""


class LogRefused(PenstockError):
    """The log is shorter than before, has another history, or does not hold a receipt's leaf.

    Also where what was seen of logs before cannot be read or kept.
    """


class LogForked(LogRefused):
    """A log that was followed is not what it was; ``evidence`` is the file that shows it."""

    def __init__(self, message: str, evidence: Path | None) -> None:
        super().__init__(message, evidence)
        self.evidence = evidence

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class InvalidField:
    """One place of a request that was refused: a JSON pointer, and why."""

    pointer: str
    detail: str


class ApiError(PenstockError):
    """A refusal, as the server's problem document (RFC 9457) states it.

    ``data`` holds the members that are particular to one kind of problem (what an
    exhausted budget needed, for instance); ``retry_after`` is in seconds.
    """

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str,
        errors: tuple[InvalidField, ...] = (),
        request_id: str | None = None,
        data: Mapping[str, object] | None = None,
        retry_after: float | None = None,
    ) -> None:
        # All of them go to the root, so that an error survives the way between processes.
        super().__init__(status, code, title, detail, errors, request_id, data, retry_after)
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.errors = errors
        self.request_id = request_id
        self.data: Mapping[str, object] = data or {}
        self.retry_after = retry_after

    def __str__(self) -> str:
        origin = self.code if self.request_id is None else f"{self.code}, request {self.request_id}"
        # The detail of a request that is wrong in one place is often that place's.
        places = "".join(
            f"\n  {field.pointer or '/'}: {field.detail}"
            for field in self.errors
            if field.pointer or field.detail != self.detail
        )
        return f"{self.title}: {self.detail} ({origin}){places}"


class InvalidInput(ApiError):
    """The request cannot be meant; ``errors`` names each place."""


class NotAuthenticated(ApiError):
    """No token, or one that is malformed, expired or revoked."""


class Forbidden(ApiError):
    """The caller is known, and is not allowed to do this."""


class ClearanceTooLow(Forbidden):
    """A level more accurate than the caller's clearance allows."""


class NotFound(ApiError):
    """Missing, or out of the caller's sight: the two look the same."""


class Conflict(ApiError):
    """The present state does not allow it."""


class BudgetExhausted(Conflict):
    """A charge that does not fit; ``data`` says what was needed and what is left."""


class TooManyRequests(ApiError):
    """The caller's allowance of requests is used up for the moment."""


class Unavailable(ApiError):
    """The server cannot serve this now; asking again later is safe."""
