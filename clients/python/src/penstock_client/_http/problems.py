"""Turn an answer that is a refusal into the error to raise."""

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
FROM_GATEWAYS = {
    429: "A gateway before the server limits the rate of requests",
    502: "A gateway could not reach the server",
    503: "The server, or a gateway before it, cannot serve this now",
    504: "A gateway got no answer from the server in time",
}
"""Messages for refusals by gateways, by status; the body that a gateway sends is not shown."""

_MEMBERS = frozenset({"type", "title", "status", "detail", "code", "errors", "request_id"})


def refusal(
    status: int, media_type: str, answer: object, retry_after: float | None = None
) -> PenstockError:
    """Return the error for an answer with a status of 400 or above.

    ``answer`` is the parsed body, or None if it is not JSON.  The class follows from the
    status and the code; an unknown status gives a plain ``ApiError``.  An answer that is not
    a problem document gives a ``ProtocolError``, unless its status is one that gateways send.
    """
    if media_type != MEDIA_TYPE or not isinstance(answer, dict):
        return _from_gateway(status, media_type, retry_after)
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


def _from_gateway(status: int, media_type: str, retry_after: float | None) -> PenstockError:
    if status in FROM_GATEWAYS:
        return BY_STATUS[status](
            status, "GATEWAY", f"HTTP status {status}", f"{FROM_GATEWAYS[status]}.",
            retry_after=retry_after,
        )  # fmt: skip
    return ProtocolError(
        f"The answer has status {status} and {media_type or 'no media type'}, which is not how"
        " a Penstock server refuses; check that the URL is that of a Penstock server."
    )
