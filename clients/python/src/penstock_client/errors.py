"""Define all errors that this package raises.

::

    PenstockError
    ├── InvalidArgument         an argument cannot be used, nothing was sent (also a ValueError)
    │   ├── NestedNoise         two levels of one query cannot be averaged
    │   ├── CovarianceUnknown   values share noise, and the server does not state how much
    │   └── NotDrawable         a chart cannot show these numbers
    ├── NotRegistered           nobody has registered the statistic yet
    ├── Proposed                nothing was done yet, another admin must approve it
    ├── MissingExtra            a library is not installed (also an ImportError)
    ├── NotReachable            no answer came
    ├── ProtocolError           the answer is not what the contract says
    ├── LogRefused              the server's log does not continue the one seen before
    │   └── LogForked           the same, found by a monitor, with evidence in a file
    └── ApiError                the server refused the request
        ├── InvalidInput        the request is not valid (400, 413, 415, 422)
        ├── NotAuthenticated    no valid token (401)
        ├── Forbidden           the caller's roles do not allow it (403)
        │   └── ClearanceTooLow the level is more accurate than the clearance allows
        ├── NotFound            it does not exist, or the caller may not see it (404)
        ├── Conflict            the present state does not allow it (409)
        │   └── BudgetExhausted the budget does not allow it
        ├── TooManyRequests     the caller sends requests too fast (429)
        └── Unavailable         the server cannot answer now (502, 503, 504)

No error contains the token.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class PenstockError(Exception):
    """Represent any error that this package raises on purpose."""


class InvalidArgument(PenstockError, ValueError):
    """Report an argument or a setting that cannot be used; nothing was sent."""


class NestedNoise(InvalidArgument):
    """Report that releases of one query were to be averaged, whose noise is one path.

    The more accurate one already has all that both say: the other is it with noise added.
    """

    def __init__(self, query: str, tiers: tuple[str, str]) -> None:
        super().__init__(query, tiers)  # so that the error can be copied between processes
        self.query = query
        self.tiers = tiers

    def __str__(self) -> str:
        first, second = self.tiers
        return (
            f"The releases of {self.query!r} at {first!r} and at {second!r} are levels of one noise"
            " path: the noisier one is the other with noise added, so an average is less accurate"
            " than the better one. Take that alone."
        )


class CovarianceUnknown(InvalidArgument):
    """Report values that share noise whose covariance the server does not state."""


class NotDrawable(InvalidArgument):
    """Report numbers that no chart can show."""


class NotRegistered(PenstockError):
    """Report a question whose statistic nobody has registered, so that it has no release."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question

    def __str__(self) -> str:
        return (
            f"Nobody has registered this statistic yet: {self.question}. Register it with"
            " register(), or send it to the admins with request(purpose=...)."
        )


class Proposed(PenstockError):
    """Report an act that takes two people: it is proposed, and another admin must approve it."""

    def __init__(self, proposal: str) -> None:
        super().__init__(proposal)
        self.proposal = proposal

    def __str__(self) -> str:
        return (
            "Nothing was done yet: under the two-person rule another admin must approve proposal"
            f" {self.proposal}."
        )


class MissingExtra(PenstockError, ImportError):
    """Report that a library that ``method`` needs is not installed; ``extra`` installs it."""

    def __init__(self, extra: str, method: str) -> None:
        super().__init__(extra, method)  # so that the error can be copied between processes
        self.extra = extra
        self.method = method

    def __str__(self) -> str:
        needed = f"penstock-client[{self.extra}]"
        return f"{self.method}() needs a library that is not installed; run pip install '{needed}'."


class NotReachable(PenstockError):
    """Report that no answer came: connection refused, timeout, broken connection, unknown host."""


class ProtocolError(PenstockError):
    """Report an answer that is not what the contract says, maybe not a Penstock server's."""


class LogRefused(PenstockError):
    """Report a log that is shorter than before, has another history, or lacks a receipt's leaf.

    It is also raised if the file that remembers logs cannot be read or written.
    """


class LogForked(LogRefused):
    """Report a fork that a monitor found; ``evidence`` is the file with both signed notes."""

    def __init__(self, message: str, evidence: Path | None) -> None:
        super().__init__(message, evidence)
        self.evidence = evidence

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class InvalidField:
    """Hold one place of a request that was refused: a JSON pointer, and the reason."""

    pointer: str
    detail: str


class ApiError(PenstockError):
    """Report a refusal, as the server's problem document (RFC 9457) states it.

    ``data`` has the members that only one kind of problem has (for an exhausted budget, how
    much was needed); ``retry_after`` is in seconds.
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
        # All of them go to the base class, so that the error can be copied between processes.
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
        # If only one place is wrong, the problem's detail often repeats that place's detail.
        places = "".join(
            f"\n  {field.pointer or '/'}: {field.detail}"
            for field in self.errors
            if field.pointer or field.detail != self.detail
        )
        return f"{self.title}: {self.detail} ({origin}){places}"


class InvalidInput(ApiError):
    """Report a request that is not valid; ``errors`` has each place in it."""


class NotAuthenticated(ApiError):
    """Report that the token is missing, malformed, expired or revoked."""


class Forbidden(ApiError):
    """Report that the caller is not allowed to do this."""


class ClearanceTooLow(Forbidden):
    """Report a level that is more accurate than the caller's clearance allows."""


class NotFound(ApiError):
    """Report that something does not exist, or that the caller may not see it: both look alike."""


class Conflict(ApiError):
    """Report that the present state does not allow the request."""


class BudgetExhausted(Conflict):
    """Report a charge that does not fit; ``data`` has what was needed and what is left."""


class TooManyRequests(ApiError):
    """Report that the caller sends requests too fast; try again after ``retry_after`` seconds."""


class Unavailable(ApiError):
    """Report that the server cannot answer now; sending the request again later is safe."""
