"""Test ``penstock-client request``: what it sends, and what it prints."""

import json
from collections.abc import Callable

import httpx
import pytest
from tests.client.questions.asking import OPEN

Run = Callable[..., int]


def test_requests_are_listed_and_shown_with_their_comments(
    run: Run, capsys: pytest.CaptureFixture[str], requests: list[httpx.Request]
) -> None:
    assert run("request", "list", "--state", "open") == 0
    assert requests[-1].url.params["state"] == "open"
    assert "req_1  by town  open" in capsys.readouterr().out
    assert run("request", "list", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == [OPEN]
    assert run("request", "show", "req_1") == 0
    shown = capsys.readouterr().out
    assert "ada, 2026-11-21 08:30Z:\n  By town\n  alone?\n" in shown
    assert "a report" in shown


def test_a_request_is_commented_on_and_withdrawn(
    run: Run, capsys: pytest.CaptureFixture[str], requests: list[httpx.Request]
) -> None:
    assert run("request", "comment", "req_1", "By town.") == 0
    assert json.loads(requests[-1].content) == {"comment": "By town."}
    assert "alone?" in capsys.readouterr().out
    assert run("request", "withdraw", "req_1", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["state"] == "withdrawn"
    assert requests[-1].url.path == "/api/v1/requests/req_1/withdraw"
