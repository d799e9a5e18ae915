"""Define the one tree of errors.  Errors carry data; the code that reports them formats them.

::

    PenstockError
    ├── InvalidInput            the request is not valid (422)
    │   ├── MalformedInput      the request cannot be read (400)
    │   └── NotDrawable         a chart cannot show these numbers (422)
    ├── NotAuthenticated        no token, or one that is malformed, expired, revoked (401)
    ├── Forbidden               the caller's role does not reach so far (403)
    │   ├── ClearanceTooLow     the level is more accurate than the caller's own (403)
    │   └── ApprovalNeeded      it takes two people: to be proposed, not done (403)
    ├── NotFound                it does not exist, or the caller may not see it (404)
    ├── Conflict                the state does not allow it (409)
    │   ├── NameTaken
    │   ├── RegisteredAlready   the same data are a version of a dataset
    │   ├── BudgetExhausted
    │   ├── LevelsUsedUp
    │   └── SourceChanged       the file is not the one that was registered
    ├── TooManyRequests         the caller sent more than the rate allows (429)
    │   └── QuotaUsedUp         the caller received as much as is allowed in a day
    ├── IntegrityViolation      stored state was altered, or is sealed under other keys (503)
    └── Unavailable             the server cannot serve this now (503)
        ├── Busy                all processes for computations are in use
        ├── DatabaseUnavailable locked, full, read-only, unreadable
        │   ├── NoRoom          what is left of the disk is kept for taking access away
        │   └── Interrupted     lost or overtaken in mid-transaction: may be tried again
        ├── SchemaUnknown       a database of another version
        ├── LogUnavailable      the log or its witness does not accept anything ├── Suspended
        the database is older than its witness: nothing is drawn ├── IdentityUnavailable the OpenID
        provider does not answer └── KeysUnavailable     key ring missing, wrong, or readable by
        others
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class PenstockError(Exception):
    """Report any error, as the root.  ``detail`` says what happened, the numbers, the next step."""

    code: ClassVar[str] = "ERROR"
    title: ClassVar[str] = "Something went wrong"

    def __init__(self, detail: str, **data: object) -> None:
        super().__init__(detail)
        self.detail = detail
        self.data: Mapping[str, object] = data


class InvalidInput(PenstockError):
    """Report a request that is not valid.  ``errors`` names each place by JSON pointer."""

    code = "INVALID_INPUT"
    title = "The request is not valid"

    def __init__(
        self,
        detail: str,
        *,
        pointer: str = "",
        errors: Sequence[tuple[str, str]] = (),
        **data: object,
    ) -> None:
        super().__init__(detail, **data)
        self.errors: tuple[tuple[str, str], ...] = tuple(errors) or ((pointer, detail),)


class MalformedInput(InvalidInput):
    """Report bytes that are not of their declared type."""

    code = "MALFORMED"
    title = "The request cannot be read"


class NotDrawable(InvalidInput):
    """Report numbers that no chart can show."""


class NotAuthenticated(PenstockError):
    """Report a request without a valid token."""

    code = "NOT_AUTHENTICATED"
    title = "A valid token is needed"


class Forbidden(PenstockError):
    """Report that the caller is known, but not allowed to do this."""

    code = "FORBIDDEN"
    title = "Not allowed"


class ClearanceTooLow(Forbidden):
    """Report a level more accurate than the caller's clearance allows."""

    code = "CLEARANCE_TOO_LOW"
    title = "The clearance is too low"


class ApprovalNeeded(Forbidden):
    """Report an action that needs a second person's approval under the two-person rule."""

    code = "APPROVAL_NEEDED"
    title = "Another admin must approve it"


class NotFound(PenstockError):
    """Report something that is missing or hidden from the caller: the two look the same."""

    code = "NOT_FOUND"
    title = "Not found"


class Conflict(PenstockError):
    """Report an action that the state of the server does not allow."""

    code = "CONFLICT"
    title = "The present state does not allow it"


class NameTaken(Conflict):
    """Report a name in use; names are unique under case folding and Unicode normalization."""

    code = "NAME_TAKEN"
    title = "The name is taken"


class RegisteredAlready(Conflict):
    """Report data that are a version of a dataset already, with its ``dataset`` and ``version``."""


class BudgetExhausted(Conflict):
    """Report a charge above the budget, with what is needed, left and spent, and the largest share.

    ``advice`` is the part of the detail that says what to do, for callers that can give better
    advice.
    """

    code = "BUDGET_EXHAUSTED"
    title = "The budget does not allow it"

    def __init__(self, detail: str, *, advice: str = "", **data: object) -> None:
        super().__init__(detail, **data)
        self.advice = advice


class LevelsUsedUp(Conflict):
    """Report that a query has as many distinct levels as it was registered for."""

    code = "LEVELS_USED_UP"
    title = "The query's number of levels is used up"


class SourceChanged(Conflict):
    """Report that the registered file vanished, or is not the one that was registered."""

    code = "SOURCE_CHANGED"
    title = "The dataset's source is not the one registered"


class TooManyRequests(PenstockError):
    """Report more requests than the caller may make; ``retry_after`` is in whole seconds."""

    code = "TOO_MANY_REQUESTS"
    title = "Too many requests for now"


class QuotaUsedUp(TooManyRequests):
    """Report that the caller received, or made, as much as is allowed in a day."""

    code = "QUOTA_USED_UP"
    title = "The allowance for a day is used up"


class IntegrityViolation(PenstockError):
    """Report stored state that does not authenticate.  Nothing is drawn or served from it."""

    code = "INTEGRITY_VIOLATION"
    title = "Stored state does not authenticate"


class Unavailable(PenstockError):
    """Report that the server cannot serve this now."""

    code = "UNAVAILABLE"
    title = "Not available now"


class Busy(Unavailable):
    """Report that the server computes as much as it can; the request may be repeated soon."""

    code = "BUSY"
    title = "The server computes as much as it can"


class DatabaseUnavailable(Unavailable):
    """Report a database that is locked, full, read-only or unreadable."""

    code = "DATABASE_UNAVAILABLE"
    title = "The database is not available"


class NoRoom(DatabaseUnavailable):
    """Report that the database's remaining space is reserved for revoking access."""

    code = "NO_ROOM"
    title = "The database has no room for more"


class Interrupted(DatabaseUnavailable):
    """Report a lost connection, or a conflict with another transaction; a retry may succeed.

    ``uncertain`` means that it happened at the commit, which may have succeeded: then a retry must
    first look for what was stored.
    """

    def __init__(self, detail: str, *, uncertain: bool = False, **data: object) -> None:
        super().__init__(detail, **data)
        self.uncertain = uncertain


class SchemaUnknown(Unavailable):
    """Report a database of an unknown version."""

    code = "SCHEMA_UNKNOWN"
    title = "The database has another schema"


class LogUnavailable(Unavailable):
    """Report no answer to an action that is not in the log yet, or not witnessed."""

    code = "LOG_UNAVAILABLE"
    title = "The log is not available"


class Suspended(Unavailable):
    """Report a database older than the witness saw: what it lacks would be drawn again."""

    code = "SUSPENDED"
    title = "The database was restored to an older state"


class IdentityUnavailable(Unavailable):
    """Report that the OpenID provider's keys cannot be read."""

    code = "IDENTITY_UNAVAILABLE"
    title = "The identity provider is not available"


class KeysUnavailable(Unavailable):
    """Report a key ring that is missing, wrong, or readable by others."""

    code = "KEYS_UNAVAILABLE"
    title = "The keys are not available"


def described(problem: PenstockError) -> dict[str, Any]:
    """Write an error as a JSON object, for a later time or another process."""
    places = problem.errors if isinstance(problem, InvalidInput) else ()
    return {
        "code": problem.code,
        "detail": problem.detail,
        "errors": [list(place) for place in places],
        "data": dict(problem.data),
    }


def raised_again(document: Mapping[str, Any]) -> PenstockError:
    """Recreate an error that ``described`` wrote, of the class with its code."""
    kind = _kinds(PenstockError).get(document["code"], PenstockError)
    data = document.get("data", {})
    if issubclass(kind, InvalidInput):
        return kind(document["detail"], errors=[(p, w) for p, w in document["errors"]], **data)
    return kind(document["detail"], **data)


def _kinds(kind: type[PenstockError]) -> dict[str, type[PenstockError]]:
    """Return ``kind`` and its subclasses by code, without those that have their parent's code."""
    kinds: dict[str, type[PenstockError]] = {}
    for below in kind.__subclasses__():
        kinds |= _kinds(below)
    return kinds | {kind.code: kind}
