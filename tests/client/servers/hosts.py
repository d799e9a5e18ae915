"""Provide a server with a log that it signs, and that a test may rewrite."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from penstock_client import Client
from penstock_client._log.tree import leaf_hash, root_of

TOKEN = "pst_abcdefgh_0123456789012345678901234567890123456789abc_00000000"
ME = "/api/v1/me"
RELEASES = "/api/v1/queries/flights_by_carrier/releases"
TOTALS = "/api/v1/streams/hits/releases"
CHECKPOINT, INCLUSION, CONSISTENCY = (
    f"/api/v1/audit/{name}" for name in ("checkpoint", "proof/inclusion", "proof/consistency")
)


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


def canonical(**fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def leaf_of(answer: Mapping[str, Any], user: str = "ann", **other: object) -> bytes:
    """Return the leaf of a release or of running totals, as the product writes it."""
    shared = {"v": 1, "user": user, "actor": user, "dataset": answer["dataset"]}
    shared |= {"at": answer["released_at"], "tier": answer["tier"], "level": answer["level"]}
    own = (
        {"kind": "release", "query": answer["query"], "release": answer["id"]}
        if "id" in answer
        else {
            "kind": "stream",
            "query": answer["stream"],
            "first": answer["items"][0]["t"],
            "last": answer["items"][-1]["t"],
        }
    )
    return canonical(**{**shared, **own, **other})


def ed25519(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


class Host:
    """Answer as the product does, from leaves that a test may change.

    ``changed`` maps paths to functions that replace the true answer by another one.
    """

    def __init__(self, answers: Mapping[str, Any], size: int = 6) -> None:
        self.key = ed25519(7)
        self.answers = answers
        self.leaves = [canonical(v=1, number=number) for number in range(size)]
        self.paths: list[str] = []
        self.changed: dict[str, Callable[[dict[str, Any]], object]] = {}

    @property
    def public(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    @property
    def name(self) -> str:
        return f"penstock/{hashlib.sha256(self.public).hexdigest()[:16]}"

    def root(self, size: int) -> bytes:
        return root_of(map(leaf_hash, self.leaves[:size]))[1]

    def note(self, size: int) -> str:
        root = base64.b64encode(self.root(size)).decode()
        return self.signed(f"{self.name}\n{size}\n{root}\n2026-11-20T12:00:00.000000Z\n")

    def signed(self, text: str) -> str:
        """Return a note of any text with a valid signature."""
        tag = hashlib.sha256(self.name.encode() + b"\n\x01" + self.public).digest()[:4]
        signature = base64.b64encode(tag + self.key.sign(text.encode())).decode()
        return f"{text}\n\u2014 {self.name} {signature}\n"

    def checkpoint(self) -> dict[str, Any]:
        size = len(self.leaves)
        return {
            "size": size,
            "root_hash": self.root(size).hex(),
            "key": self.public.hex(),
            "note": self.note(size),
        }

    def receipt(self, index: int) -> dict[str, Any]:
        leaf = self.leaves[index]
        return {
            "index": index,
            "leaf_hash": leaf_hash(leaf).hex(),
            "leaf": leaf.decode(),
            "checkpoint": self.note(index + 1),
        }

    def hashes(self, parts: Sequence[tuple[int, int]]) -> list[str]:
        return [root_of(map(leaf_hash, self.leaves[a:b]))[1].hex() for a, b in parts]

    def handed(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer with its receipt; a repeated release has the leaf of the first one."""
        try:
            leaf = leaf_of(answer)
        except (LookupError, TypeError):  # no answer of the contract's
            return dict(answer)
        if leaf not in self.leaves:
            self.leaves.append(leaf)
        return {**answer, "receipt": self.receipt(self.leaves.index(leaf))}

    def answer(self, request: httpx.Request) -> dict[str, Any] | None:
        """Return the true answer; ``None`` for a path that this host does not know."""
        path = request.url.path
        parameters = dict(request.url.params.items())
        if path == CHECKPOINT:
            return self.checkpoint()
        if path == INCLUSION:
            return {
                "hashes": self.hashes(spans(int(parameters["index"]), 0, int(parameters["size"])))
            }
        if path == CONSISTENCY:
            parts = old_spans(int(parameters["from"]), 0, int(parameters["to"]), whole=True)
            return {"hashes": self.hashes(parts)}
        answer: dict[str, Any] | None = self.answers.get(f"{request.method} {path}")
        is_handed = path in (RELEASES, TOTALS) or path.endswith("/values")
        return self.handed(answer) if answer and is_handed else answer

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.paths.append(path)
        answer: object = self.answer(request)
        if answer is None:
            return httpx.Response(404)
        if path in self.changed:
            answer = self.changed[path](answer)  # type: ignore[arg-type]  # an object of JSON
        if isinstance(answer, httpx.Response):
            return answer
        headers = {"Content-Type": "application/json"}
        return httpx.Response(200, headers=headers, content=json.dumps(answer))


def session(host: Host) -> Client:
    """Return a new client of the host, which remembers only what is in its file."""
    return Client("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(host))


def more(*names: object) -> list[bytes]:
    """Return further leaves for a log."""
    return [canonical(v=1, more=name) for name in names]
