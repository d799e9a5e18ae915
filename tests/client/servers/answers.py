"""Hold a server's answers, as the contract states them."""

import json
from typing import Any

import httpx

LEVEL = {"parameter": "variance", "value": 2028}


GUARANTEE = {
    "definition": "zcdp",
    "rho": 0.01183,
    "epsilon": 0.6294,
    "delta": 1e-6,
    "mu": None,
    "pure_epsilon": None,
}


ERROR = {"standard_deviation": 45.03, "confidence": 0.95, "half_width": 88.26}


RECEIPT = {"index": 41, "leaf_hash": "ab" * 32, "checkpoint": None}


RELEASE: dict[str, Any] = {
    "id": "rel_1",
    "query": "flights_by_carrier",
    "dataset": "flights",
    "tier": "partner",
    "mechanism": "gaussian",
    "level": LEVEL,
    "guarantee": GUARANTEE,
    "granularity": 0.0001220703125,
    "keys": ["AA", "UA"],
    "values": [31987.5, 0.0],
    "error": ERROR,
    "asserted_by": None,
    "released_at": "2026-11-20T12:00:00Z",
    "receipt": RECEIPT,
}


STREAM: dict[str, Any] = {
    "name": "hits",
    "dataset": "clicks",
    "mechanism": "laplace",
    "structure": {"kind": "kary", "k": 4, "subtracting": False},
    "status": "active",
    "length": 100,
    "next": 3,
    "dimension": 1,
    "asserted_by": "root",
    "tiers": [
        {"tier": "partner", "level": LEVEL, "guarantee": GUARANTEE, "error": ERROR, "first": 1}
    ],
}


def problem(status: int, code: str, **members: object) -> httpx.Response:
    """Return a refusal as a server answers it."""
    body = {
        "type": f"/problems/{code.lower().replace('_', '-')}",
        "title": "A title",
        "status": status,
        "detail": "What happened.",
        "code": code,
        "errors": [],
        "request_id": "req-7",
        **members,
    }
    return httpx.Response(
        status, headers={"Content-Type": "application/problem+json"}, content=json.dumps(body)
    )
