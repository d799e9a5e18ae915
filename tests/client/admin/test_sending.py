"""Test that a request whose answer is lost is sent again, and is acted on once."""

import httpx
import pytest
from tests.client.admin.conftest import USER
from tests.client.servers.answers import problem
from tests.client.servers.hosts import TOKEN

from penstock_client import Admin, ApiError, NotReachable, Unavailable


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("penstock_client.admin.sending.time.sleep", slept.append)
    return slept


class Line:
    """Represent a network that loses the first ``losses`` answers."""

    def __init__(self, losses: int, *, gateway: bool = False) -> None:
        self.losses = losses
        self.gateway = gateway
        self.keys: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers["Idempotency-Key"])
        if len(self.keys) > self.losses:
            return httpx.Response(201, json=USER)
        if self.gateway:
            return problem(503, "BUSY")
        raise httpx.ReadTimeout("lost", request=request)


def admin(line: Line) -> Admin:
    return Admin("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(line))


def test_lost_answers_are_fetched_under_one_key(pauses: list[float]) -> None:
    for gateway in (False, True):
        line = Line(3, gateway=gateway)
        assert admin(line).create_user("eve", ["analyst"]).name == "e/ve"
        assert len(line.keys) == 4
        assert len(set(line.keys)) == 1
    assert pauses == [0.25, 0.5, 1.0] * 2


def test_a_server_that_stays_away_is_reported() -> None:
    with pytest.raises(NotReachable):
        admin(Line(9)).create_user("eve", ["analyst"])
    with pytest.raises(Unavailable):
        admin(Line(9, gateway=True)).create_user("eve", ["analyst"])


def test_every_request_has_a_key_of_its_own() -> None:
    line = Line(0)
    client = admin(line)
    client.create_user("eve", ["analyst"])
    client.create_user("eve", ["analyst"])
    assert len(set(line.keys)) == 2


@pytest.mark.parametrize("status", [400, 409, 422])
def test_a_refusal_is_not_sent_again(status: int) -> None:
    sent: list[int] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        del request
        sent.append(status)
        return problem(status, "REFUSED")

    client = Admin("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(refuse))
    with pytest.raises(ApiError):
        client.create_user("eve", ["analyst"])
    assert sent == [status]
