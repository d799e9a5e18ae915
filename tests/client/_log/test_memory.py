"""Test the file of checkpoints: damage is found, and nothing is forgotten."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.servers.hosts import TOKEN, Host, canonical, more, session

from penstock_client import Client, LogRefused
from penstock_client._log.notes import opened

CORRUPT: list[bytes] = [
    b"",
    b"not JSON",
    b"[]",
    b"null",
    b"7",
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"http://127.0.0.1": null}',
    b'{"http://127.0.0.1": []}',
    b'{"http://127.0.0.1": {}}',
    b'{"http://127.0.0.1": {"key": 7, "note": 7}}',
    b'{"http://127.0.0.1": {"key": "zz", "note": "x"}}',
    b'{"http://127.0.0.1": {"key": "' + b"ab" * 32 + b'", "note": "\\ud800"}}',
]


@pytest.mark.parametrize("content", CORRUPT, ids=lambda content: ascii(content[:40]))
def test_what_is_remembered_must_be_readable(
    host: Host, client: Client, memory_file: Path, content: bytes
) -> None:
    """A client that forgot a log would trust any other one, so a damaged file is refused."""
    client.verify()
    memory_file.write_bytes(content)
    with pytest.raises(LogRefused, match="move it away"):
        session(host)
    host.leaves += more(1)
    with pytest.raises(LogRefused, match="move it away"):
        client.verify()


def test_one_byte_of_what_is_remembered_is_not_another(
    host: Host, client: Client, memory_file: Path
) -> None:
    client.verify()
    entry = json.loads(memory_file.read_text())["http://127.0.0.1"]
    for part in ("key", "note"):
        for place in range(0, len(entry[part]), 9):
            other = "1" if entry[part][place] != "1" else "2"
            changed = {**entry, part: entry[part][:place] + other + entry[part][place + 1 :]}
            memory_file.write_text(json.dumps({"http://127.0.0.1": changed}))
            with pytest.raises(LogRefused):
                session(host)


def test_a_file_that_is_gone_does_not_make_a_client_forget(
    host: Host, client: Client, memory_file: Path
) -> None:
    client.verify()
    memory_file.unlink()
    host.leaves.pop()
    with pytest.raises(LogRefused, match="had 6"):
        client.verify()
    host.leaves += more(1, 2)
    with pytest.raises(LogRefused, match="does not begin"):
        client.verify()


def test_a_file_that_cannot_be_used_is_told_of(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path, tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        monkeypatch.setenv("PENSTOCK_CHECKPOINTS", str(place))
        with pytest.raises(LogRefused, match="cannot be used to remember"):
            session(host).verify()


@pytest.mark.parametrize("forked", [False, True])
def test_what_another_client_keeps_meanwhile_is_not_written_over(
    host: Host, client: Client, memory_file: Path, forked: bool
) -> None:
    """The other client asks later and finishes earlier."""
    other = Host(host.answers)
    other.leaves += more(1, 2)
    if forked:
        other.leaves[2] = canonical(v=1, rewritten=True)

    def overtaken(answer: dict[str, Any]) -> dict[str, Any]:
        host.changed.clear()
        assert session(other).verify().size == 8
        if not forked:
            host.leaves = other.leaves
        return answer

    host.changed["/api/v1/audit/checkpoint"] = overtaken
    if forked:
        with pytest.raises(LogRefused):
            client.verify()
    else:
        assert client.verify().size == 8
    entry = json.loads(memory_file.read_text())["http://127.0.0.1"]
    assert opened(entry["note"], other.public).size == 8


def test_many_clients_at_once_lose_nothing(host: Host, memory_file: Path) -> None:
    """Each client remembers its own server's log, in one shared file."""
    hosts = {f"http://127.0.0.{number}": Host(host.answers, size=number) for number in range(2, 26)}

    def follow(url: str) -> None:
        transport = httpx.MockTransport(hosts[url])
        for _ in range(3):
            hosts[url].leaves += more(url)
            Client(url, TOKEN, transport=transport).verify()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(follow, hosts))
    entries = json.loads(memory_file.read_text())
    assert {url: len(host.leaves) for url, host in hosts.items()} == {
        url: int(entry["note"].splitlines()[1]) for url, entry in entries.items()
    }
    assert {file.name for file in memory_file.parent.iterdir()} == {
        "checkpoints.json",
        "checkpoints.json.lock",
    }
