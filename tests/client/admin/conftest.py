"""Provide an admin's client of a server that records what it is sent."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from tests.client.servers.hosts import TOKEN

from penstock_client import (
    Admin,
    Event,
    Invitation,
    IssuedInvitation,
    IssuedToken,
    Proposal,
    Schedule,
    Tier,
    Token,
    User,
)

AT = "2026-11-20T12:00:00Z"
USER = {"name": "e/ve", "roles": ["analyst"], "clearance": None, "active": True, "created_at": AT}
TOKEN_SHOWN: dict[str, Any] = {
    "prefix": "pst_ab",
    "user": "e/ve",
    "scopes": [],
    "expires": AT,
    "revoked": None,
}
INVITATION: dict[str, Any] = {
    "id": "k/3",
    "name": "lea",
    "roles": ["analyst"],
    "clearance": None,
    "expires": AT,
    "by": "root",
    "state": "open",
}
TIER = {"name": "a b", "rank": 15, "description": ""}
SCHEDULE = {"name": "a b", "on": True, "next_at": None, "reason": None, "spec": {"cron": "@daily"}}
PROPOSAL = {
    "id": "p/7",
    "act": "retire_query",
    "state": "open",
    "request": {"query": "visits"},
    "basis": {},
    "proposed_by": "root",
    "proposed_at": AT,
    "expires_at": AT,
    "decided_by": None,
    "reason": None,
}
EVENT = {"index": 4, "leaf_hash": "ab", "kind": "release", "actor": "ann", "at": AT}
ANSWERS: list[tuple[Any, dict[str, Any]]] = [
    (User, USER),
    (Token, TOKEN_SHOWN),
    (IssuedToken, {**TOKEN_SHOWN, "token": "secret"}),
    (Invitation, INVITATION),
    (IssuedInvitation, {"link": "secret", "id": "k/3", "name": "lea", "expires": AT}),
    (Tier, TIER),
    (Schedule, SCHEDULE),
    (Proposal, {name: value for name, value in PROPOSAL.items() if name != "basis"}),
    (Event, EVENT),
]
"""Each class, with an answer that it reads."""

Sent = tuple[str, str, Any]


@dataclass
class Desk:
    """Answer every request with ``answer``, and record verb, path and body of each."""

    answer: Any
    sent: list[Sent] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode().removeprefix("/api/v1")
        body = json.loads(request.content) if request.content else None
        self.sent.append((request.method, path, body))
        return httpx.Response(200, json=self.answer)


@pytest.fixture
def at() -> Iterator[Callable[[Desk], Admin]]:
    """Return a function that makes a client of a desk."""
    clients: list[Admin] = []

    def make(desk: Desk) -> Admin:
        clients.append(Admin("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(desk)))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
