"""Test the program: separate data and messages, three formats, stable exit codes."""

import csv
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from penstock_client import Client, command
from penstock_client._commands.settings import Settings

Handler = Callable[[httpx.Request], httpx.Response]
RELEASE = "POST /api/v1/queries/flights_by_carrier/releases"


def test_json_is_the_servers_own_answer(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    assert run("--format", "json", "release", "flights_by_carrier", "--tier", "public") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("receipt")["index"] == answers[RELEASE].pop("receipt")["index"]
    assert printed == answers[RELEASE]
    assert run("--format", "json", "datasets") == 0
    assert json.loads(capsys.readouterr().out) == answers["GET /api/v1/datasets"]["items"]


def test_a_list_of_texts_names_the_keys_that_are_their_hashes(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    answers: dict[str, Any],
    tmp_path: Path,
) -> None:
    titles = tmp_path / "titles.txt"
    titles.write_text("Emma\r\nUlysses\n", encoding="utf-8")
    words = ("--format", "csv", "release", "flights_by_carrier", "--texts", str(titles))
    assert run(*words) == 2
    assert "no sparse histogram" in capsys.readouterr().err
    histogram = {"domain": {"type": "sha256_64"}, "size": 2**64, "threshold": 4.5}
    answers[RELEASE] |= {
        "histogram": {**histogram, "false_keys": 0.01, "appears": []},
        "keys": [hashlib.sha256(b"Ulysses").hexdigest()[:16], "00" * 8],
    }
    assert run(*words) == 0
    keys = [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out))]
    assert keys == ["key", "Ulysses", "00" * 8]


def test_the_format_may_stand_before_and_behind_the_command(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def begins(*words: str) -> str:
        assert run(*words) == 0
        return capsys.readouterr().out.partition(",")[0].strip()

    table = begins("budget", "flights")
    streams = command.commands.commands["stream"]
    sent = command.commands.commands["request"]
    assert isinstance(streams, click.Group)
    assert isinstance(sent, click.Group)
    # A monitor writes lines for a journal, completions are for a shell: neither is a table of data.
    lines = (command.commands.commands["audit"], command.commands.commands["completion"])
    singly = {
        name: each
        for name, each in command.commands.commands.items()
        if each not in (streams, sent, *lines)
    }
    groups = (*streams.commands.items(), *sent.commands.items())
    for name, each in (*singly.items(), *groups):
        assert "form" in {option.name for option in each.params}, name
    assert begins("--format", "csv", "budget", "flights") == "tier"
    assert begins("budget", "flights", "--format", "csv") == "tier"
    assert begins("budget", "--format", "csv", "flights") == "tier"
    # The one behind the command was typed last.
    assert begins("--format", "json", "budget", "flights", "--format", "csv") == "tier"
    monkeypatch.setenv("PENSTOCK_FORMAT", "json")
    assert begins("budget", "flights").startswith("{")
    assert begins("--format", "csv", "budget", "flights") == "tier"
    assert begins("budget", "flights", "--format", "table") == table


@pytest.mark.parametrize(
    "arguments",
    [
        ["datasets"],
        ["queries"],
        ["queries", "--dataset", "flights"],
        ["release", "flights_by_carrier", "--epsilon", "0.1"],
        ["history", "--query", "flights_by_carrier", "--user", "ann"],
        ["budget", "flights"],
        ["exposure", "--users", "ann, bob", "--dataset", "flights"],
        ["exposure", "--users", "ann"],
    ],
)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_command_writes_every_format(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    form: str,
) -> None:
    assert run("--format", form, *arguments) == 0
    out = capsys.readouterr().out
    if form == "json":
        assert json.loads(out)
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) >= 2
        assert "∞" not in out
    else:
        assert out.endswith("\n")
        assert "None" not in out


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (403, "FORBIDDEN", 3),
        (403, "CLEARANCE_TOO_LOW", 3),
        (409, "BUDGET_EXHAUSTED", 3),
        (409, "CONFLICT", 1),
        (401, "NOT_AUTHENTICATED", 1),
        (404, "NOT_FOUND", 1),
        (422, "INVALID_INPUT", 1),
        (429, "TOO_MANY_REQUESTS", 1),
        (500, "INTERNAL", 1),
        (503, "UNAVAILABLE", 1),
    ],
)
def test_refusals_have_exit_codes(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    refuse: Callable[..., httpx.Response],
    status: int,
    code: str,
    exit_code: int,
) -> None:
    answer = refuse(status, code, detail="Because \x1b[2J of that.")
    assert run("release", "q", handler=lambda _: answer) == exit_code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"A title: Because \\u001b[2J of that. ({code}, request req-7)\n"


def test_nobody_there_is_exit_code_4(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[Errno 111] Connection refused")

    assert run("datasets", handler=fail) == 4
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (
        "",
        "http://127.0.0.1:8080 cannot be reached: [Errno 111] Connection refused.\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["release"],
        ["release", "q", "--tier", "a", "--epsilon", "1"],
        ["release", "q", "--epsilon", "nan"],
        ["release", "q", "--epsilon", "many"],
        ["nothing"],
        ["--format", "yaml", "datasets"],
        ["--timeout", "0", "datasets"],
        ["--url", "http://elsewhere.example.org", "datasets"],
        ["exposure", "--users", ",", "--dataset", "d"],
        ["datasets", "--surprise"],
    ],
)
def test_usage_is_exit_code_2_and_nothing_is_sent(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    requests: list[httpx.Request],
    arguments: list[str],
) -> None:
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err
    assert not requests


def test_no_token_is_a_matter_of_usage(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PENSTOCK_TOKEN")
    assert run("datasets") == 2
    assert "PENSTOCK_TOKEN" in capsys.readouterr().err


def test_a_defect_is_one_line_and_not_a_traceback(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Client, "datasets", lambda _: 1 / 0)
    assert run("datasets") == 1
    assert capsys.readouterr().err == (
        "ZeroDivisionError: division by zero. This is a bug; please report it.\n"
    )


@pytest.mark.parametrize("name", ["", *command.commands.commands])
def test_help_names_the_variable_of_every_option(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(*([name] if name else []), "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    program = command.commands.commands[name] if name else command.commands
    options = [option for option in program.params if option.opts[0] not in ("--help", "--version")]
    for option in options:
        if option.param_type_name == "option":
            # Of the two places of --format one variable is read.
            infix = f"{name.upper()}_" if name and option.opts[0] != "--format" else ""
            variable = f"PENSTOCK_{infix}{option.opts[0].lstrip('-').replace('-', '_').upper()}"
            assert f"[env var: {variable}" in text


def test_variables_stand_for_options(
    run: Callable[..., int],
    requests: list[httpx.Request],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_FORMAT", "json")
    monkeypatch.setenv("PENSTOCK_URL", "http://elsewhere.example.org")
    monkeypatch.setenv("PENSTOCK_INSECURE", "1")
    monkeypatch.setenv("PENSTOCK_RELEASE_TIER", "public")
    assert run("release", "flights_by_carrier") == 0
    assert requests[0].url.host == "elsewhere.example.org"
    assert json.loads(requests[0].content) == {"tier": "public"}
    assert json.loads(capsys.readouterr().out)


def program(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-m", "penstock_client.command", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_program_itself_exits_with_these_codes(token: str) -> None:
    assert program("--version").stdout.startswith("penstock-client ")
    assert program("datasets").returncode == 2
    nobody = program("datasets", PENSTOCK_TOKEN=token, PENSTOCK_URL="http://127.0.0.1:9")
    assert (nobody.returncode, nobody.stdout) == (4, "")
    assert "cannot be reached" in nobody.stderr
    assert token not in nobody.stderr


def test_a_reader_that_leaves_is_no_defect(
    run: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leave(*_: object, **__: object) -> None:
        raise BrokenPipeError

    replaced: list[tuple[int, int]] = []
    monkeypatch.setattr(Settings, "print", leave)
    monkeypatch.setattr(os, "dup2", lambda source, target: replaced.append((source, target)))
    monkeypatch.setattr(sys.stdout, "fileno", lambda: 1, raising=False)
    assert run("datasets") == 1
    assert replaced[0][1] == 1
    os.close(replaced[0][0])
    assert capsys.readouterr().err == ""
