"""From an answer that is a refusal to the error that says so."""

from penstock_client._http.fields import Fields
from penstock_client.errors import (
    ApiError,
    BudgetExhausted,
    ClearanceTooLow,
    Conflict,
    Forbidden,
    InvalidField,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    PenstockError,
    ProtocolError,
    TooManyRequests,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"

BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidInput,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
    429: TooManyRequests,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
BY_CODE: dict[tuple[int, str], type[ApiError]] = {
    (403, "CLEARANCE_TOO_LOW"): ClearanceTooLow,
    (409, "BUDGET_EXHAUSTED"): BudgetExhausted,
}
FROM_BETWEEN = {
    429: "Something between here and the server asks to slow down",
    502: "A gateway could not reach the server",
    503: "The server, or a gateway before it, cannot serve this now",
    504: "A gateway waited for the server in vain",
}
"""What proxies answer in their own words, which are not shown."""

_MEMBERS = frozenset({"type", "title", "status", "detail", "code", "errors", "request_id"})


def refusal(
    status: int, media_type: str, answer: object, retry_after: float | None = None
) -> PenstockError:
    """The error of an answer with a status of 400 or above.

    ``answer`` is the parsed body, or None where it is not JSON.  The class follows from
    the status, refined by the code; an unknown status is a plain ``ApiError``.  What is
    no problem document is a ``ProtocolError``, save the answers of gateways.
    """
    if media_type != MEDIA_TYPE or not isinstance(answer, dict):
        return _from_between(status, media_type, retry_after)
    problem = Fields(answer, "problem")
    try:
        code = problem.text_or_none("code") or "UNKNOWN"
        return BY_CODE.get((status, code), BY_STATUS.get(status, ApiError))(
            status,
            code,
            problem.text_or_none("title") or f"HTTP status {status}",
            problem.text_or_none("detail") or "The server gives no detail.",
            tuple(
                InvalidField(field.text_or_none("pointer") or "", field.text("detail"))
                for field in problem.children_or_none("errors")
            ),
            problem.text_or_none("request_id"),
            {name: value for name, value in answer.items() if name not in _MEMBERS},
            retry_after,
        )
    except ProtocolError as error:
        return error


def _from_between(status: int, media_type: str, retry_after: float | None) -> PenstockError:
    if status in FROM_BETWEEN:
        return BY_STATUS[status](
            status, "GATEWAY", f"HTTP status {status}", f"{FROM_BETWEEN[status]}.",
            retry_after=retry_after,
        )  # fmt: skip
    return ProtocolError(
        f"The answer is status {status} with {media_type or 'no media type'}, which is not how"
        " a Penstock server refuses; check that the URL is that of a Penstock server."
    )
