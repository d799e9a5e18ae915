"""Test what surrounds every answer: headers, request ids, the log, the policies."""

import pytest
from tests.api.world import World

from penstock.http.edge import HEADERS
from penstock.services.people import users

ADDRESSES = ["/openapi.json", "/healthz", "/readyz", "/api/v1/me", "/nothing"]


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("by", [None, "ann"])
def test_every_answer_has_the_security_headers(world: World, path: str, by: str | None) -> None:
    response = world.call("GET", path, by=by)
    for name, value in HEADERS.items():
        assert response.headers.getlist(name) == [value]
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert response.headers["Cache-Control"] == "no-store"


def test_a_failure_has_the_security_headers_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "me", lambda *_: 1 / 0)
    response = world.call("GET", "/api/v1/me", by="ann")
    assert response.status_code == 500
    assert all(response.headers[name] == value for name, value in HEADERS.items())


def test_every_answer_has_an_id_of_its_own(world: World) -> None:
    answers = [
        world.call("GET", "/api/v1/me", by="ann", headers={"X-Request-Id": "mine"})
        for _ in range(3)
    ]
    ids = {response.headers["X-Request-Id"] for response in answers}
    assert len(ids) == 3
    assert "mine" not in ids
