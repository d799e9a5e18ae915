"""Test that each answer is logged as one line of JSON, without values, tokens or bodies."""

import io
import json
import logging
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.world import World

from penstock.errors import IntegrityViolation
from penstock.http import access_log
from penstock.services.people import users

ASK = "/api/v1/queries/visits/releases"


class Lines(logging.Handler):
    """Hold the log's lines, as they would be written."""

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
    """Yield what is logged during a test."""
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


def test_the_path_that_a_refusal_keeps_from_its_caller_is_logged(
    world: World, log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IntegrityViolation("A chunk is missing.", path="/kept/secret")

    monkeypatch.setattr(users, "me", fail)
    response = world.call("GET", "/api/v1/me", by="ann")
    assert "/kept" not in response.text
    withheld = json.loads(log.lines[0])
    assert withheld["request_id"] == response.headers["X-Request-Id"]
    assert (withheld["code"], withheld["path"]) == ("INTEGRITY_VIOLATION", "/kept/secret")


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


def test_a_line_is_the_same_whoever_else_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log.LOGGER, "handlers", [])
    monkeypatch.setattr(access_log.LOGGER, "propagate", True)
    monkeypatch.setattr(access_log.LOGGER, "level", logging.NOTSET)
    # Ray, once a test has imported it, takes each record's time from the second clock.
    monkeypatch.setattr(time, "time", lambda: 1.25)
    monkeypatch.setattr(time, "time_ns", lambda: 1_250_000_000)
    access_log.configure("info")
    told = Lines()

    def answer() -> str:
        access_log.answered(
            "7", verb="GET", route="/é", status=200, seconds=0.1234567, caller='"ann"'
        )
        return capsys.readouterr().err

    alone = answer()
    access_log.LOGGER.addHandler(told)
    beside = answer()
    (line,) = told.lines
    assert alone == beside == f"{line}\n"
    assert json.loads(alone)["at"] == "1970-01-01T00:00:01.250000Z"
    assert json.loads(alone)["seconds"] == 0.123457


def test_an_answer_is_not_logged_above_its_level(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_log.LOGGER, "handlers", [])
    monkeypatch.setattr(access_log.LOGGER, "level", logging.NOTSET)
    access_log.configure("warning")
    access_log.answered("7", verb=None, route=None, status=400, seconds=0.0, caller=None)
    assert capsys.readouterr().err == ""


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
