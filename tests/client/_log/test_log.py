"""The client against servers that change, cut off or fork the history of their log."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.hosts import Host, canonical, ed25519

from penstock_client import Client, LogRefused
from penstock_client._log.ed25519 import verified
from penstock_client._log.notes import ED25519, key_tag, opened

TOKEN = "pst_abcdefgh_0123456789012345678901234567890123456789abc_00000000"


@pytest.fixture
def host(answers: dict[str, Any]) -> Host:
    return Host(answers)


@pytest.fixture
def client(host: Host) -> Client:
    return Client("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(host))


def another(host: Host) -> Client:
    """The same user's next session."""
    return Client("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(host))


def more(*names: object) -> list[bytes]:
    return [canonical(v=1, more=name) for name in names]


def test_a_log_that_grows_is_believed_and_remembered(host: Host, client: Client) -> None:
    assert client.verify().size == 6
    host.leaves += more(*range(4))
    assert client.release("flights_by_carrier").receipt.index == 10
    assert another(host).verify().size == 11
    host.leaves += more("last")
    assert another(host).verify().size == 12


def test_a_receipt_is_held_to_the_log(host: Host, client: Client) -> None:
    first = client.release("flights_by_carrier").receipt
    assert "/api/v1/audit/proof/inclusion" in host.asked
    host.leaves += more(1, 2, 3)
    assert client.release("flights_by_carrier").receipt == first, "an old receipt stays true"
    assert client.stream("hits").receipt.index == 10


@pytest.mark.parametrize("again", [False, True])
def test_a_shorter_log_is_refused(host: Host, client: Client, again: bool) -> None:
    client.verify()
    host.leaves.pop()
    with pytest.raises(LogRefused, match="had 6"):
        (another(host) if again else client).verify()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("grown", [0, 1, 4])
def test_a_forked_history_is_refused(host: Host, client: Client, again: bool, grown: int) -> None:
    """Every checkpoint is signed by the right key; only the past is another one."""
    client.release("flights_by_carrier")
    host.leaves[2] = canonical(v=1, rewritten=True)
    host.leaves += more(*range(grown))
    found = another(host) if again else client
    with pytest.raises(LogRefused, match=r"does not begin|of more leaves"):
        found.verify()
    with pytest.raises(LogRefused):
        found.release("flights_by_carrier")


def test_another_key_is_refused(host: Host, client: Client) -> None:
    client.verify()
    host.key = ed25519(8)
    with pytest.raises(LogRefused, match="another key"):
        another(host).verify()


def kept(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints.json"


@pytest.fixture(autouse=True)
def _kept_in_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_CHECKPOINTS", str(kept(tmp_path)))


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
    host: Host, client: Client, tmp_path: Path, content: bytes
) -> None:
    """Whoever forgets a log believes the next one; so it is not forgotten by itself."""
    client.verify()
    kept(tmp_path).write_bytes(content)
    with pytest.raises(LogRefused, match="move it away"):
        another(host)
    host.leaves += more(1)
    with pytest.raises(LogRefused, match="move it away"):
        client.verify()


def test_one_byte_of_what_is_remembered_is_not_another(
    host: Host, client: Client, tmp_path: Path
) -> None:
    client.verify()
    entry = json.loads(kept(tmp_path).read_text())["http://127.0.0.1"]
    for part in ("key", "note"):
        for place in range(0, len(entry[part]), 9):
            other = "1" if entry[part][place] != "1" else "2"
            changed = {**entry, part: entry[part][:place] + other + entry[part][place + 1 :]}
            kept(tmp_path).write_text(json.dumps({"http://127.0.0.1": changed}))
            with pytest.raises(LogRefused):
                another(host)


def test_a_file_that_is_gone_does_not_make_a_client_forget(
    host: Host, client: Client, tmp_path: Path
) -> None:
    client.verify()
    kept(tmp_path).unlink()
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
            another(host).verify()


def test_clients_that_share_a_file_hold_the_log_to_what_any_of_them_saw(
    host: Host, client: Client
) -> None:
    second = another(host)
    assert client.verify().size == 6
    host.leaves += more(1, 2)
    assert second.verify().size == 8
    host.leaves[6:] = [canonical(v=1, rewritten=True)]
    with pytest.raises(LogRefused, match="had 8"):
        client.verify()
    host.leaves += more(3, 4, 5)
    with pytest.raises(LogRefused, match="does not begin"):
        client.verify()


@pytest.mark.parametrize("forked", [False, True])
def test_what_another_client_keeps_meanwhile_is_not_written_over(
    host: Host, client: Client, tmp_path: Path, forked: bool
) -> None:
    """The other one asks later, and is done sooner."""
    other = Host(host.answers)
    other.leaves += more(1, 2)
    if forked:
        other.leaves[2] = canonical(v=1, rewritten=True)

    def overtaken(answer: dict[str, Any]) -> dict[str, Any]:
        host.changed.clear()
        assert another(other).verify().size == 8
        if not forked:
            host.leaves = other.leaves
        return answer

    host.changed["/api/v1/audit/checkpoint"] = overtaken
    if forked:
        with pytest.raises(LogRefused):
            client.verify()
    else:
        assert client.verify().size == 8
    entry = json.loads(kept(tmp_path).read_text())["http://127.0.0.1"]
    assert opened(entry["note"], other.public).size == 8


def test_many_clients_at_once_lose_nothing(host: Host, tmp_path: Path) -> None:
    """Each remembers a log of its own, in one file."""
    hosts = {f"http://127.0.0.{number}": Host(host.answers, size=number) for number in range(2, 26)}

    def follow(url: str) -> None:
        transport = httpx.MockTransport(hosts[url])
        for _ in range(3):
            hosts[url].leaves += more(url)
            Client(url, TOKEN, transport=transport).verify()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(follow, hosts))
    found = json.loads(kept(tmp_path).read_text())
    assert {url: len(host.leaves) for url, host in hosts.items()} == {
        url: int(entry["note"].splitlines()[1]) for url, entry in found.items()
    }
    assert {one.name for one in tmp_path.iterdir()} == {"checkpoints.json", "checkpoints.json.lock"}


def test_no_byte_of_a_note_may_be_another(host: Host) -> None:
    note, public = host.note(6), host.key.public_key().public_bytes_raw()
    assert opened(note, public).size == 6
    for place in range(0, len(note), 7):
        broken = note[:place] + ("A" if note[place] != "A" else "B") + note[place + 1 :]
        with pytest.raises(ValueError, match=r"."):
            opened(broken, public)


def test_the_form_of_notes_is_that_of_others() -> None:
    """The example of Go's sumdb/note: how keys are named, and what of a note is signed."""
    text = (
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
    )
    key = base64.b64decode("ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
    signed = base64.b64decode(
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXg"
        "KvqfqdngotpRZb6KE6RyyBwJnAM="
    )
    assert key[:1] == ED25519
    assert signed[:4].hex() == "c74f20a3"
    assert signed[:4] == key_tag("PeterNeumann", key[1:])
    assert verified(key[1:], text.encode(), signed[4:])
