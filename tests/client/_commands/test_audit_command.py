"""Test the commands of auditors: exit codes, printed lines, and keys."""

import functools
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.client.servers.hosts import TOKEN, Host, more

from penstock_client import Client, command
from penstock_client._commands import settings
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.notes import vkey_of

FORK = 5


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., int]:
    monkeypatch.setenv("PENSTOCK_TOKEN", TOKEN)

    def run(host: Host, *arguments: str) -> int:
        transport = httpx.MockTransport(host)
        monkeypatch.setattr(settings, "Client", functools.partial(Client, transport=transport))
        return command.run(["audit", "watch", "--once", "--state", str(tmp_path / "w"), *arguments])

    return run


def test_the_program_ends_with_a_code_of_its_own(
    host: Host, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    tag = vkey_of(host.public)
    assert run(host, "--key", tag) == 0
    assert "6 leaves" in capsys.readouterr().out
    assert run(host, "--key", host.public.hex()) == 0
    assert run(host, "--key", tag[:-2]) == 2
    host.leaves.pop()
    assert run(host) == FORK
    assert "signed notes are in" in capsys.readouterr().err


def test_a_key_is_made_once_and_printed_for_the_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["audit", "key", str(tmp_path / "key"), "--name", "auditor.example/a"]
    assert command.run(arguments) == 0
    assert capsys.readouterr().out == f"{Cosigner.load(tmp_path / 'key').vkey}\n"
    assert command.run(arguments) == 2
    assert "new file" in capsys.readouterr().err


def test_a_line_says_what_a_look_saw(
    host: Host, run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(host) == 0
    assert capsys.readouterr().out.endswith(f"root {host.root(6).hex()}, first seen\n")
    host.leaves += more(1)
    assert run(host) == 0
    assert capsys.readouterr().out.endswith(", continues 6\n")


def test_a_report_is_verified_offline(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = {
        "dataset": "visits\u202e",
        "end": "2026-11-01T00:00:00.000000Z",
        "format": "penstock audit report v1",
        "log": {"checkpoint": host.note(6)},
        "people": 2,
        "releases": 3,
        "start": None,
    }
    content = json.dumps(facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()
    note = host.signed(f"{host.name} report/v1\n{digest}\n")
    file = tmp_path / "report.json"
    file.write_text(json.dumps({"facts": facts, "note": note}))
    arguments = ["audit", "verify-report", str(file), "--key"]
    assert command.run([*arguments, host.public.hex()]) == 0
    printed = capsys.readouterr().out
    assert "verified: facts, signed by the log's key" in printed
    assert "dataset visits\\u202e, from the beginning of the log until 2026-11-01" in printed
    assert f"3 releases to 2 people; log of 6 leaves, root {host.root(6).hex()}" in printed
    file.write_text(json.dumps({"facts": {**facts, "releases": 0}, "note": note}))
    assert command.run([*arguments, host.public.hex()]) == 1
    assert "report.json is not verified" in capsys.readouterr().err
    assert command.run([*arguments, "00"]) == 2
