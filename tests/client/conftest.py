"""Provide a server that answers as the contract states, without a network."""

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from tests.client.servers.answers import ERROR, GUARANTEE, LEVEL, RECEIPT, RELEASE, STREAM, problem
from tests.client.servers.hosts import CHECKPOINT, CONSISTENCY, INCLUSION, ME, TOKEN, Host
from tests.client.servers.means import MEANS

from penstock_client import Client, Release, command
from penstock_client._commands import settings
from penstock_client._http.fields import Fields

Handler = Callable[[httpx.Request], httpx.Response]

LOSS = {"epsilon": 0.6294, "delta": 1e-6}
HISTORY_ITEM = {
    name: value for name, value in RELEASE.items() if name not in ("keys", "values", "granularity")
} | {"user": "ann"}
TOTALS: dict[str, Any] = {
    "stream": "hits",
    "dataset": "clicks",
    "tier": "partner",
    "mechanism": "laplace",
    "level": LEVEL,
    "guarantee": GUARANTEE,
    "granularity": 0.5,
    "asserted_by": "root",
    "released_at": "2026-11-20T12:00:00Z",
    "receipt": RECEIPT,
    "items": [
        {"t": 1, "values": [3.5], "error": ERROR},
        {"t": 2, "values": [-1.0], "error": {**ERROR, "half_width": 99.0}},
    ],
}
STREAM_PREVIEW: dict[str, Any] = {
    "stream": "more",
    "structure": {"kind": "kary", "k": 22, "subtracting": True},
    "length": 250,
    "dimension": 1,
    "sensitivity": {"l1": 2.0, "l2": 1.414, "linf": 1.0},
    "judged_steps": 250,
    "noisiest_step": 231,
    "refusal": None,
    "tiers": [
        {
            "tier": "partner",
            "level": LEVEL,
            "guarantee": GUARANTEE,
            "charge": {"order": 22.0, "loss": 0.0087, "failure": 2.2e-19, "share": 0.0164},
            "error": ERROR,
            "root_mean_square": 9.44,
            "steps": [{"t": 1, "error": ERROR}],
            "room": {
                "fits": True,
                "needed_share": 0.0164,
                "remaining_share": 1.0,
                "largest_share": 1.0,
            },
        }
    ],
    "structures": [
        {
            "structure": name,
            "settings": settings,
            "request": request,
            "chosen": chosen,
            "least_mean": chosen,
            "least_largest": False,
            "lossless": not chosen,
            "kept": 18,
            "drawn": 1.0,
            "added": 1.25,
            "errors": [
                {
                    "tier": "partner",
                    "root_mean_square": mean,
                    "largest": 13.0,
                    "charged_share": cost,
                }
            ],
        }
        for name, settings, request, chosen, mean, cost in (
            ("kary", {"k": 22}, {"structure": "kary", "k": 22}, True, 9.44, 0.0164),
            ("square_root", {}, None, False, 20.5, None),
        )
    ],
    "noises": [
        {
            "mechanism": "laplace",
            "structure": {"kind": "kary", "k": 22},
            "chosen": True,
            "refusal": None,
            "errors": [
                {
                    "tier": "partner",
                    "root_mean_square": 9.44,
                    "largest": 13.0,
                    "charged_share": 0.0164,
                }
            ],
        },
        {
            "mechanism": "gaussian",
            "structure": {},
            "chosen": False,
            "refusal": "Gaussian noise needs a delta above 0.",
            "errors": [],
        },
    ],
}
ANSWERS: dict[str, Any] = {
    "GET /api/v1/streams": {"items": [STREAM], "next_cursor": None},
    "GET /api/v1/streams/hits": STREAM,
    "GET /api/v1/streams/hits/releases": TOTALS,
    "POST /api/v1/streams/hits/elements": {"stream": "hits", "first": 3, "last": 5, "next": 6},
    "POST /api/v1/streams/preview": STREAM_PREVIEW,
    "GET /api/v1/me": {
        "name": "ann",
        "roles": ["analyst"],
        "clearance": "partner",
        "token_expires": "2026-12-20T12:00:00Z",
    },
    "GET /api/v1/datasets": {
        "items": [
            {
                "name": "flights",
                "version": 1,
                "privacy_unit": {"column": "tailnum"},
                "neighboring": "add_remove",
                "delta": 1e-6,
                "columns": {"tailnum": {"type": "string"}},
                "budgets": {"public": {"epsilon": 0.5, "delta": 1e-6}, "partner": LOSS},
            }
        ],
        "next_cursor": None,
    },
    "GET /api/v1/queries": {
        "items": [
            {
                "name": "flights_by_carrier",
                "dataset": "flights",
                "mechanism": "gaussian",
                "status": "active",
                "dimension": 2,
                "tiers": [
                    {"tier": "partner", "level": LEVEL, "guarantee": GUARANTEE, "error": ERROR}
                ],
                "asserted_by": None,
            },
            {"name": "visits", "dataset": "Sites"},
        ],
        "next_cursor": None,
    },
    "POST /api/v1/queries/flights_by_carrier/releases": RELEASE,
    "GET /api/v1/releases": {"items": [HISTORY_ITEM], "next_cursor": None},
    "GET /api/v1/audit/exposure": {
        "users": ["ann", "bob"],
        "queries": [{"query": "flights_by_carrier", "level": LEVEL, "guarantee": GUARANTEE}],
        "released": LOSS,
        "could_be": {"epsilon": 1.25, "delta": 1e-6},
        "independent": {"epsilon": 2.5, "delta": 1e-6},
        "reach": {"tier": "internal", "epsilon": 3, "delta": 1e-6},
        "registrars": None,
    },
    "GET /api/v1/datasets/flights/budget": {
        "dataset": "flights",
        "tiers": [
            {
                "tier": "partner",
                "granted": {"epsilon": 1, "delta": 1e-6},
                "spent": LOSS,
                "remaining": {"epsilon": 0.3, "delta": 1e-6},
                "queries": [{"query": "flights_by_carrier", "share": 0.25}],
            }
        ],
    },
}


@pytest.fixture
def token() -> str:
    return TOKEN


@pytest.fixture
def answers() -> dict[str, Any]:
    """Return the contract's answers by verb and path; a test may change its copy."""
    return copy.deepcopy(ANSWERS)


@pytest.fixture
def host(answers: dict[str, Any]) -> Host:
    """Return a server with a log."""
    return Host(answers)


@pytest.fixture
def refuse() -> Callable[..., httpx.Response]:
    return problem


@pytest.fixture
def requests() -> list[httpx.Request]:
    """Return the requests that ``server`` got, in order."""
    return []


@pytest.fixture
def server(answers: dict[str, Any], requests: list[httpx.Request]) -> Handler:
    """Return a handler that answers from ``answers``, logs what it releases, and answers 404 else.

    Requests about the user and the log, which the client sends by itself, are not in ``requests``.
    """
    host = Host(answers, size=41)

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path not in (ME, CHECKPOINT, INCLUSION, CONSISTENCY):
            requests.append(request)
        answer = host.answer(request)
        return problem(404, "NOT_FOUND") if answer is None else httpx.Response(200, json=answer)

    return handle


@pytest.fixture
def client_of() -> Iterator[Callable[[Handler], Client]]:
    """Return a function that makes a client whose network is a handler."""
    clients: list[Client] = []

    def make(handler: Handler, **options: Any) -> Client:
        transport = httpx.MockTransport(handler)
        clients.append(Client("http://127.0.0.1", TOKEN, transport=transport, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(client_of: Callable[[Handler], Client], server: Handler) -> Client:
    return client_of(server)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the environment variables that the client reads."""
    for name in ("PENSTOCK_URL", "PENSTOCK_TOKEN", "PENSTOCK_FORMAT", "PENSTOCK_INSECURE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def release(answers: dict[str, Any]) -> Release:
    """Return the contract's example of a release."""
    answer = answers["POST /api/v1/queries/flights_by_carrier/releases"]
    return Release.read(Fields(answer, "release"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, server: Handler, token: str) -> Callable[..., int]:
    """Return a function that runs the program against ``server`` or another handler."""
    monkeypatch.setenv("PENSTOCK_TOKEN", token)

    def run(*arguments: str, handler: Handler = server) -> int:
        transport = httpx.MockTransport(handler)
        monkeypatch.setattr(settings, "Client", functools.partial(Client, transport=transport))
        return command.run(arguments)

    return run


@pytest.fixture
def means() -> Release:
    """Return a release of means, each with its own interval."""
    return Release.read(Fields(MEANS, "release"))
