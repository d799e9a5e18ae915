"""The client against servers that change, cut off or fork the history of their log."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from penstock_client import Client, LogRefused, offline
from penstock_client.ed25519 import verified
from penstock_client.notes import opened
from penstock_client.tree import leaf_hash, root_of

ASK = "/api/v1/queries/flights_by_carrier/releases"
TOKEN = "pst_abcdefgh_0123456789012345678901234567890123456789abc_00000000"


def spans(index: int, first: int, end: int) -> list[tuple[int, int]]:
    if end - first == 1:
        return []
    middle = first + (1 << ((end - first - 1).bit_length() - 1))
    if index < middle:
        return [*spans(index, first, middle), (middle, end)]
    return [*spans(index, middle, end), (first, middle)]


def old_spans(old: int, first: int, end: int, whole: bool) -> list[tuple[int, int]]:
    if old == end:
        return [] if whole else [(first, end)]
    middle = first + (1 << ((end - first - 1).bit_length() - 1))
    if old <= middle:
        return [*old_spans(old, first, middle, whole), (middle, end)]
    return [*old_spans(old, middle, end, whole=False), (first, middle)]


class Host:
    """A server with a log that it signs, and may rewrite."""

    def __init__(self, release: dict[str, Any]) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
        self.leaves = [b"leaf %d" % number for number in range(6)]
        self.release = release
        self.asked: list[str] = []

    def note(self, size: int) -> str:
        public = self.key.public_key().public_bytes_raw()
        name = f"penstock/{hashlib.sha256(public).hexdigest()[:16]}"
        _, root = root_of(map(leaf_hash, self.leaves[:size]))
        text = f"{name}\n{size}\n{base64.b64encode(root).decode()}\n2026-11-20T12:00:00.000000Z\n"
        tag = hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
        signed = base64.b64encode(tag + self.key.sign(text.encode())).decode()
        return f"{text}\n\u2014 {name} {signed}\n"

    def hashes(self, parts: Sequence[tuple[int, int]]) -> list[str]:
        return [root_of(map(leaf_hash, self.leaves[a:b]))[1].hex() for a, b in parts]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        asked = {name: int(value) for name, value in request.url.params.items()}
        size = len(self.leaves)
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "/api/v1/audit/checkpoint": lambda: {
                "size": size,
                "root_hash": root_of(map(leaf_hash, self.leaves))[1].hex(),
                "key": self.key.public_key().public_bytes_raw().hex(),
                "note": self.note(size),
            },
            "/api/v1/audit/proof/inclusion": lambda: {
                "hashes": self.hashes(spans(asked["index"], 0, asked["size"]))
            },
            "/api/v1/audit/proof/consistency": lambda: {
                "hashes": self.hashes(old_spans(asked["from"], 0, asked["to"], whole=True))
            },
            ASK: lambda: {**self.release, "receipt": self.receipt(size - 1)},
        }
        return httpx.Response(200, json=answers[request.url.path]())

    def receipt(self, index: int) -> dict[str, Any]:
        leaf = leaf_hash(self.leaves[index]).hex()
        return {"index": index, "leaf_hash": leaf, "checkpoint": self.note(index + 1)}


@pytest.fixture
def host(answers: dict[str, Any]) -> Host:
    return Host(answers[f"POST {ASK}"])


@pytest.fixture
def client(host: Host) -> Client:
    return Client("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(host))


def another(host: Host) -> Client:
    """The same user's next session."""
    return Client("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(host))


def test_a_log_that_grows_is_believed_and_remembered(host: Host, client: Client) -> None:
    assert client.verify().size == 6
    host.leaves += [b"more %d" % number for number in range(5)]
    assert client.release("flights_by_carrier").receipt.index == 10
    assert another(host).verify().size == 11
    host.leaves.append(b"last")
    assert another(host).verify().size == 12


def test_a_receipt_is_held_to_the_log(host: Host, client: Client) -> None:
    client.release("flights_by_carrier")
    assert "/api/v1/audit/proof/inclusion" in host.asked
    true = host.receipt

    def other_leaf(index: int) -> dict[str, Any]:
        return {**true(index), "leaf_hash": "ab" * 32}

    def none(index: int) -> dict[str, Any]:
        return {**true(index), "checkpoint": None}

    def beyond(index: int) -> dict[str, Any]:
        return {**true(index), "index": 99}

    for lie in (other_leaf, none, beyond):
        host.receipt = lie  # type: ignore[method-assign]  # that is the lie
        with pytest.raises(LogRefused):
            client.release("flights_by_carrier")


@pytest.mark.parametrize("again", [False, True])
def test_a_shorter_log_is_refused(host: Host, client: Client, again: bool) -> None:
    client.verify()
    host.leaves.pop()
    with pytest.raises(LogRefused, match="had 6"):
        (another(host) if again else client).verify()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("more", [0, 1, 4])
def test_a_forked_history_is_refused(host: Host, client: Client, again: bool, more: int) -> None:
    """Every checkpoint is signed by the right key; only the past is another one."""
    client.release("flights_by_carrier")
    host.leaves[2] = b"rewritten"
    host.leaves += [b"more %d" % number for number in range(more)]
    found = another(host) if again else client
    with pytest.raises(LogRefused, match=r"does not begin|of more leaves"):
        found.verify()
    with pytest.raises(LogRefused):
        found.release("flights_by_carrier")


def test_another_key_is_refused(host: Host, client: Client) -> None:
    client.verify()
    host.key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    with pytest.raises(LogRefused, match="another key"):
        another(host).verify()


def test_what_is_remembered_must_be_readable(host: Host, client: Client, tmp_path: Path) -> None:
    client.verify()
    (tmp_path / "checkpoints.json").write_text("not JSON")
    with pytest.raises(LogRefused, match="move it away"):
        another(host)


def test_signatures_are_those_of_the_standard() -> None:
    """RFC 8032, section 7.1, tests 1 and 2."""
    for public, message, signature in (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
                "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
                "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
    ):
        key, text, signed = map(bytes.fromhex, (public, message, signature))
        assert verified(key, text, signed)
        assert not verified(key, text + b"x", signed)
        for place in (0, 31, 32, 63):
            broken = bytearray(signed)
            broken[place] ^= 1
            assert not verified(key, text, bytes(broken))
        assert not verified(key, text, signed[:-1])


def test_no_byte_of_a_note_may_be_another(host: Host) -> None:
    note, public = host.note(6), host.key.public_key().public_bytes_raw()
    assert opened(note, public).size == 6
    for place in range(0, len(note), 7):
        broken = note[:place] + ("A" if note[place] != "A" else "B") + note[place + 1 :]
        with pytest.raises(ValueError, match=r"."):
            opened(broken, public)


def test_an_export_is_verified_offline(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        json.dumps({"index": index, "leaf": base64.b64encode(leaf).decode()})
        for index, leaf in enumerate(host.leaves)
    ]
    public = host.key.public_key().public_bytes_raw().hex()
    export, kept = tmp_path / "export", tmp_path / "checkpoint"
    kept.write_text(json.dumps({"note": host.note(5)}))

    def run(found: Sequence[str], key: str = public) -> int:
        export.write_text("\n".join(found) + "\n")
        return offline.main([str(export), str(kept), "--key", key])

    assert run(lines) == run(lines[:5]) == 0
    assert "verified 5 leaves" in capsys.readouterr().out
    changed = json.dumps({"index": 1, "leaf": base64.b64encode(b"leaf x").decode()})
    for wrong in (lines[:4], [lines[0], changed, *lines[2:]], [lines[1], lines[0], *lines[2:]]):
        assert run(wrong) == 1
    assert run(lines, "00" * 32) == 1
    assert run(["{"]) == 1


def test_the_offline_program_uses_the_standard_library_alone() -> None:
    modules = ("tree", "notes", "ed25519", "offline")
    folder = Path(offline.__file__).parent
    for name in modules:
        for line in (folder / f"{name}.py").read_text().splitlines():
            if line.startswith(("import ", "from ")) and "penstock_client" in line:
                assert line.split()[1].removeprefix("penstock_client.") in modules
        assert "httpx" not in (folder / f"{name}.py").read_text()
