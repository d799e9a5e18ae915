"""What surrounds every answer: headers, request ids, the log, the policies."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from tests.api.world import World, parsed

from penstock import application
from penstock.api.operations import ANYBODY, Operations
from penstock.http import access_log
from penstock.http.edge import HEADERS
from penstock.persistence import Database
from penstock.services.people import users

ASK = "/api/v1/queries/visits/releases"
ADDRESSES = ["/docs", "/openapi.json", "/healthz", "/readyz", "/api/v1/me", "/nothing"]


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


class Lines(logging.Handler):
    """The log's lines, as they would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(access_log.Lines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))

    def last(self) -> Any:
        return json.loads(self.lines[-1])


@pytest.fixture
def log() -> Iterator[Lines]:
    """What is logged during a test."""
    handler = Lines()
    level = access_log.LOGGER.level
    access_log.LOGGER.addHandler(handler)
    access_log.LOGGER.setLevel("DEBUG")
    yield handler
    access_log.LOGGER.removeHandler(handler)
    access_log.LOGGER.setLevel(level)


def test_every_answer_is_one_line_of_the_log(world: World, log: Lines) -> None:
    response = world.call("POST", ASK, {}, by="ann")
    assert len(log.lines) == 1
    line = log.last()
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["verb"], line["route"]) == ("POST", "/api/v1/queries/<query>/releases")
    assert (line["status"], line["caller"]) == (200, "ann")
    assert line["at"].endswith("Z")


def test_the_log_repeats_no_value_token_body_or_query_string(world: World, log: Lines) -> None:
    release = world.answer("POST", ASK, {}, by="ann")
    issued = world.answer("POST", "/api/v1/users/ann/tokens", {}, by="root")
    world.call("GET", "/api/v1/audit/events?user=canary-1", by="olga")
    world.call("GET", "/api/v1/canary-2", by="ann")
    world.call("GET", "/api/v1/queries/canary-3", by="ann")
    world.call("POST", "/api/v1/tiers", {"name": "canary-4", "rank": "canary-5"}, by="root")
    world.call("GET", "/api/v1/me", headers={"Authorization": "Bearer canary-6"})
    written = "\n".join(log.lines)
    assert len(log.lines) == 7
    assert "canary" not in written
    secrets = [issued["token"], *world.tokens.values(), *map(str, release["values"])]
    assert not [secret for secret in secrets if secret in written]


def test_a_failure_is_logged_by_its_kind_and_place_without_its_text(
    world: World, log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        try:
            raise KeyError("canary-1")
        except KeyError as problem:
            raise RuntimeError("canary-2") from problem

    monkeypatch.setattr(users, "me", fail)
    response = world.call("GET", "/api/v1/me", by="ann")
    failure = json.loads(log.lines[0])
    assert failure["request_id"] == response.headers["X-Request-Id"]
    assert [cause["error"] for cause in failure["causes"]] == [
        "builtins.RuntimeError",
        "builtins.KeyError",
    ]
    assert failure["causes"][0]["raised"][-1].endswith(" fail")
    assert "canary" not in "\n".join(log.lines)


def test_the_log_goes_to_standard_error_as_json(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log.LOGGER, "handlers", [])
    monkeypatch.setattr(access_log.LOGGER, "propagate", True)
    monkeypatch.setattr(access_log.LOGGER, "level", logging.NOTSET)
    access_log.configure("info")
    access_log.configure("info")
    world.call("GET", "/healthz")
    written = capsys.readouterr()
    assert written.out == ""
    assert json.loads(written.err)["route"] == "/healthz"


def test_a_route_without_a_policy_keeps_the_server_from_starting(world: World) -> None:
    app = Flask("penstock", static_folder=None)
    app.add_url_rule("/unguarded", "unguarded", lambda: "")
    with pytest.raises(RuntimeError, match="unguarded"):
        application._require_policies(app)


def test_every_route_has_a_policy_and_nothing_answers_options_by_itself(world: World) -> None:
    app = world.client.application
    application._require_policies(app)
    for rule in app.url_map.iter_rules():
        assert "OPTIONS" not in (rule.methods or set())


def test_an_operation_cannot_be_declared_without_a_policy() -> None:
    operations = Operations()
    with pytest.raises(TypeError, match="policy"):
        operations.get("/unguarded", None)  # type: ignore[arg-type]  # the mistake under test
    assert operations.declared == []


def test_an_argument_must_say_what_it_is() -> None:
    def handler(call: object, colour: str | None = None) -> str:
        raise NotImplementedError

    with pytest.raises(TypeError, match="colour"):
        Operations().get("/things", ANYBODY)(handler)


def test_what_is_ready_says_so_and_what_is_not_says_why(world: World) -> None:
    assert parsed(world.call("GET", "/readyz")) == {"status": "ready"}
    ring = world.server.settings.keys_path / "keyring.json"
    ring.rename(ring.with_suffix(".away"))
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "KEYS_UNAVAILABLE")
    assert parsed(world.call("GET", "/healthz")) == {"status": "up"}


def test_a_clock_that_was_set_back_is_not_ready_and_serves(world: World) -> None:
    world.clock.now += timedelta(hours=1)
    world.answer("POST", "/api/v1/tiers", {"name": "noted"}, by="root")
    world.clock.now -= timedelta(hours=1)
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "UNAVAILABLE")
    assert "acknowledge-clock" in parsed(response)["detail"]
    assert world.answer("GET", "/api/v1/me", by="ann")["name"] == "ann"


def test_a_database_of_another_version_is_not_ready(world: World) -> None:
    owner = Database(world.server.settings.resolved_migration_url)
    with owner.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = 'other'")
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "SCHEMA_UNKNOWN")


def test_the_log_follows_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_log.LOGGER, "handlers", [])
    monkeypatch.setattr(access_log.LOGGER, "propagate", True)
    monkeypatch.setattr(access_log.LOGGER, "level", logging.NOTSET)
    access_log.configure("info")
    first, second = io.StringIO(), io.StringIO()
    for stream in (first, second):
        monkeypatch.setattr(sys, "stderr", stream)
        access_log.LOGGER.warning("once")
        stream_text = stream.getvalue()
        stream.close()
        assert stream_text.count("\n") == 1
