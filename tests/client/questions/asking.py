"""Provide a server's answers about questions."""

from typing import Any

from tests.client.servers.answers import ERROR, GUARANTEE, LEVEL
from tests.client.servers.previews import TIER

PREVIEW = "POST /api/v1/queries/preview"
REGISTER = "POST /api/v1/queries"
SHOW = "GET /api/v1/queries/flights_by_carrier"
REQUEST = "POST /api/v1/requests"
REQUESTS = "GET /api/v1/requests"
STATUS = "GET /api/v1/requests/req_1"
ACTS = {act: f"POST /api/v1/requests/req_1/{act}" for act in ("withdraw", "comments", "decision")}

ROOM = {"fits": True, "needed_share": 0.0164, "remaining_share": 0.75, "largest_share": 0.75}
COST: dict[str, Any] = {
    "query": "flights_by_carrier",
    "dataset": "flights",
    "registered": False,
    "sensitivity": {"l1": 1.0, "l2": 1.0, "linf": 1.0},
    "dimension": 2,
    "refusal": None,
    "spec_sql": "SELECT carrier, COUNT(*) FROM flights GROUP BY carrier",
    "tiers": [{**TIER, "tier": "partner", "room": ROOM}],
}
QUERY: dict[str, Any] = {
    "name": "flights_by_carrier",
    "dataset": "flights",
    "mechanism": "gaussian",
    "status": "active",
    "dimension": 2,
    "tiers": [{"tier": "partner", "level": LEVEL, "guarantee": GUARANTEE, "error": ERROR}],
    "asserted_by": None,
    "spec": {"group_by": [{"column": "carrier"}], "aggregate": {"type": "count"}},
    "spec_sql": "SELECT carrier, COUNT(*) FROM flights GROUP BY carrier",
}
OPEN: dict[str, Any] = {
    "id": "req_1",
    "state": "open",
    "name": "by town",
    "query": None,
    "purpose": "a report",
    "requested_at": "2026-11-20T12:00:00Z",
    "comments": [{"by": "ada", "comment": "By town\nalone?", "at": "2026-11-21T08:30:00Z"}],
}
ALLOWANCE: dict[str, Any] = {
    "dataset": "flights",
    "dataset_version": 1,
    "tier": "partner",
    "epsilon": 0.5,
    "delta": 1e-6,
    "users": ["ann"],
    "spent_share": 0.25,
    "remaining_share": 0.75,
    "queries": [{"query": "mine@partner", "by": "ann", "share": 0.25}],
    "given_at": "2026-11-20T12:00:00Z",
    "given_by": "root",
}
ROOM_LEFT = {
    "tier": "partner",
    "epsilon": 0.5,
    "fits": True,
    "needed_share": 0.1,
    "remaining_share": 0.75,
}
ANSWERS: dict[str, Any] = {
    "GET /api/v1/datasets/flights/allowances": {"items": [ALLOWANCE], "next_cursor": None},
    "PUT /api/v1/datasets/flights/allowances/partner": ALLOWANCE,
    "DELETE /api/v1/datasets/flights/allowances/partner": ALLOWANCE,
    PREVIEW: COST,
    REGISTER: QUERY,
    SHOW: QUERY,
    REQUEST: OPEN,
    REQUESTS: {"items": [OPEN], "next_cursor": None},
    STATUS: OPEN,
    ACTS["withdraw"]: {**OPEN, "state": "withdrawn"},
    ACTS["comments"]: OPEN,
    ACTS["decision"]: {**OPEN, "state": "approved", "query": "mine"},
}
