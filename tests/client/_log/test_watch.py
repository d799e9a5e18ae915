"""Test the monitor of a log: growth is followed, and every fork is reported with evidence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.client.servers.hosts import CHECKPOINT, CONSISTENCY, TOKEN, Host, canonical, ed25519

from penstock_client import Client, LogForked, NotReachable
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.watch import Watcher, follow

Look = Callable[[], Any]


def watcher(handler: Any, folder: Path, **more: Any) -> Watcher:
    transport = (
        handler if isinstance(handler, httpx.BaseTransport) else httpx.MockTransport(handler)
    )
    client = Client("http://127.0.0.1", more.pop("token", TOKEN), transport=transport)
    return client.watcher(folder / "watch.json", **more)


def evidence(forked: pytest.ExceptionInfo[LogForked]) -> dict[str, Any]:
    assert forked.value.evidence is not None
    content: dict[str, Any] = json.loads(forked.value.evidence.read_text())
    return content


def test_what_continues_is_followed_over_restarts(host: Host, tmp_path: Path) -> None:
    assert watcher(host, tmp_path).look().before is None
    host.leaves.append(canonical(v=1, more=1))
    seen = watcher(host, tmp_path).look()
    assert (seen.before, seen.known.checkpoint.size) == (6, 7)
    assert host.paths[-1] == CONSISTENCY
    assert watcher(host, tmp_path).look().before == 7


def shorter(host: Host) -> None:
    host.leaves.pop()


def rewritten(host: Host) -> None:
    host.leaves[2] = canonical(v=1, rewritten=True)


def rewritten_and_grown(host: Host) -> None:
    rewritten(host)
    host.leaves.append(canonical(v=1, more=2))


def unproven(host: Host) -> None:
    rewritten_and_grown(host)
    host.changed[CONSISTENCY] = lambda _: {"hashes": []}


def another_key(host: Host) -> None:
    host.key = ed25519(8)


def unsigned(host: Host) -> None:
    host.changed[CHECKPOINT] = lambda answer: {
        **answer,
        "note": answer["note"].replace("\n6\n", "\n7\n"),
    }


def gone(host: Host) -> None:
    problem = {"title": "x", "status": 404, "detail": "x", "code": "NOT_FOUND", "errors": []}
    headers = {"Content-Type": "application/problem+json"}
    host.changed[CHECKPOINT] = lambda _: httpx.Response(404, headers=headers, json=problem)


@pytest.mark.parametrize(
    "change", [shorter, rewritten, rewritten_and_grown, unproven, another_key, unsigned, gone]
)
def test_a_fork_is_told_with_both_notes_and_nothing_is_forgotten(
    host: Host, tmp_path: Path, change: Callable[[Host], None]
) -> None:
    cosigner = Cosigner("auditor.example/a", bytes(32))
    sent: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            sent.append(json.loads(request.content)["note"])
            return httpx.Response(200, json={})
        return host(request)

    before = watcher(handle, tmp_path).look().known.checkpoint
    state = (tmp_path / "watch.json").read_text()
    change(host)
    for _ in range(2):
        with pytest.raises(LogForked) as forked:
            watcher(handle, tmp_path, cosigner=cosigner).look()
        shown = evidence(forked)
        assert shown["seen"] == before.note
        note = host.checkpoint()["note"]
        assert shown["shown"] in (None if change is gone else note, note.replace("\n6\n", "\n7\n"))
        assert (tmp_path / "watch.json").read_text() == state
    assert sent == [], "what forks is not cosigned"
    assert len(list(tmp_path.glob("penstock-fork-*.json"))) == 2


def test_who_does_not_answer_is_no_fork(host: Host, tmp_path: Path) -> None:
    watcher(host, tmp_path).look()
    state = (tmp_path / "watch.json").read_text()
    cut = [True]

    def handle(request: httpx.Request) -> httpx.Response:
        if cut[0] or (request.url.path == CONSISTENCY and not host.leaves):
            raise httpx.ConnectError("refused")
        return host(request)

    with pytest.raises(NotReachable):
        watcher(handle, tmp_path).look()
    assert (tmp_path / "watch.json").read_text() == state
    sizes: list[int] = []
    failed: list[Exception] = []

    def wait() -> bool:
        cut[0] = False
        return bool(sizes)

    follow(
        watcher(handle, tmp_path),
        lambda seen: sizes.append(seen.known.checkpoint.size),
        failed.append,
        wait,
    )
    assert (sizes, len(failed)) == ([6], 1)
    assert not list(tmp_path.glob("penstock-fork-*"))


def test_the_key_that_was_pinned_is_held_to_from_the_first_look(host: Host, tmp_path: Path) -> None:
    assert watcher(host, tmp_path, key=host.public).look().before is None
    host.key = ed25519(8)
    with pytest.raises(LogForked) as forked:
        watcher(host, tmp_path / "new", key=ed25519(7).public_key().public_bytes_raw()).look()
    assert evidence(forked)["shown"] == host.checkpoint()["note"]


def test_a_pinned_key_does_not_excuse_another_than_that_of_before(
    host: Host, tmp_path: Path
) -> None:
    watcher(host, tmp_path).look()
    first = host.public
    host.key = ed25519(8)
    with pytest.raises(LogForked, match="another key than before") as forked:
        watcher(host, tmp_path, key=host.public).look()
    assert evidence(forked)["key"] == first.hex()


def test_it_is_remembered_before_it_is_cosigned(host: Host, tmp_path: Path) -> None:
    """Killed between the two, a cosigner has said nothing that it could later contradict."""

    def handle(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            assert (
                host.checkpoint()["note"]
                == next(iter(json.loads((tmp_path / "watch.json").read_text()).values()))["note"]
            )
            raise httpx.ConnectError("killed")
        response = host(request)
        if request.url.path == CHECKPOINT:
            return httpx.Response(200, json={**response.json(), "cosignatures": []})
        return response

    with pytest.raises(NotReachable):
        watcher(handle, tmp_path, cosigner=Cosigner("a.example", bytes(32))).look()
