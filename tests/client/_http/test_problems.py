"""Test that every refusal raises its own error, with all that the server stated."""

from collections.abc import Callable

import httpx
import pytest

import penstock_client
from penstock_client import ApiError, BudgetExhausted, Client, ProtocolError

Handler = Callable[[httpx.Request], httpx.Response]


ClientOf = Callable[[Handler], Client]


Refuse = Callable[..., httpx.Response]


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [
        (400, "MALFORMED", "InvalidInput"),
        (401, "NOT_AUTHENTICATED", "NotAuthenticated"),
        (403, "FORBIDDEN", "Forbidden"),
        (403, "CLEARANCE_TOO_LOW", "ClearanceTooLow"),
        (404, "NOT_FOUND", "NotFound"),
        (409, "NAME_TAKEN", "Conflict"),
        (409, "BUDGET_EXHAUSTED", "BudgetExhausted"),
        (413, "TOO_LARGE", "InvalidInput"),
        (415, "UNSUPPORTED", "InvalidInput"),
        (422, "INVALID_INPUT", "InvalidInput"),
        (429, "TOO_MANY_REQUESTS", "TooManyRequests"),
        (500, "INTERNAL", "ApiError"),
        (503, "UNAVAILABLE", "Unavailable"),
        (418, "CLEARANCE_TOO_LOW", "ApiError"),
    ],
)
def test_each_refusal_has_its_class(
    client_of: ClientOf, refuse: Refuse, status: int, code: str, name: str
) -> None:
    with pytest.raises(ApiError) as caught:
        client_of(lambda _: refuse(status, code)).me()
    assert type(caught.value) is getattr(penstock_client, name)
    assert (caught.value.status, caught.value.code) == (status, code)


def test_a_refusal_carries_all_that_the_server_said(client_of: ClientOf, refuse: Refuse) -> None:
    fields = [{"pointer": "/levels/public", "detail": "above 0", "new": 1}]
    answer = refuse(409, "BUDGET_EXHAUSTED", errors=fields, needed=0.5, largest_share=0.25)
    with pytest.raises(BudgetExhausted) as caught:
        client_of(lambda _: answer).me()
    error = caught.value
    assert (error.title, error.detail, error.request_id) == ("A title", "What happened.", "req-7")
    assert [(field.pointer, field.detail) for field in error.errors] == [
        ("/levels/public", "above 0")
    ]
    assert error.data == {"needed": 0.5, "largest_share": 0.25}
    assert str(error) == (
        "A title: What happened. (BUDGET_EXHAUSTED, request req-7)\n  /levels/public: above 0"
    )


def test_when_to_ask_again_is_in_seconds(client_of: ClientOf, refuse: Refuse) -> None:
    answer = refuse(429, "TOO_MANY_REQUESTS")
    answer.headers["Retry-After"] = "3"
    with pytest.raises(penstock_client.TooManyRequests) as caught:
        client_of(lambda _: answer).me()
    assert caught.value.retry_after == 3.0
    answer.headers["Retry-After"] = "Wed, 21 Oct 2026 07:28:00 GMT"
    with pytest.raises(penstock_client.TooManyRequests) as caught:
        client_of(lambda _: answer).me()
    assert caught.value.retry_after is None


def test_a_sparse_problem_is_still_typed(client_of: ClientOf) -> None:
    answer = httpx.Response(
        403, headers={"Content-Type": "application/problem+json; charset=utf-8"}, content=b"{}"
    )
    with pytest.raises(penstock_client.Forbidden) as caught:
        client_of(lambda _: answer).me()
    assert caught.value.title == "HTTP status 403"


@pytest.mark.parametrize(("status", "name"), [(502, "Unavailable"), (429, "TooManyRequests")])
def test_what_a_gateway_says_in_its_own_words_is_typed(
    client_of: ClientOf, status: int, name: str
) -> None:
    with pytest.raises(getattr(penstock_client, name), match=r"gateway|between") as caught:
        client_of(lambda _: httpx.Response(status, html="<h1>Bad</h1>")).me()
    assert "<h1>" not in str(caught.value)


def test_any_other_server_that_says_404_is_not_taken_for_penstock(client_of: ClientOf) -> None:
    with pytest.raises(ProtocolError, match="check that the URL"):
        client_of(lambda _: httpx.Response(404, html="<h1>Not Found</h1>")).me()
