"""Provide invalid idempotency keys, on every POST of admins."""

from collections.abc import Mapping
from typing import Any

from tests.api.bad_input.row import Row
from tests.api.bad_input.tables.datasets import DATASETS
from tests.api.bad_input.tables.people import TIER, TIERS, TOKEN, TOKENS, USER, USERS
from tests.api.bad_input.tables.streams import STREAM, STREAMS
from tests.api.bad_input.tables.vectors import GOOD, QUERIES
from tests.api.routes.requested import APPROVAL
from tests.api.sight.scheduled import SCHEDULE
from tests.api.world import DATASET

POSTS: Mapping[str, Any] = {
    TIERS: TIER,
    USERS: USER,
    TOKENS: TOKEN,
    f"{USERS}/import": {"users": [USER]},
    "/api/v1/invitations": {"name": "lea", "roles": ["analyst"]},
    "/api/v1/group-mappings": {"group": "staff", "roles": ["analyst"], "tier": "public"},
    DATASETS: {**DATASET, "name": "fresh"},
    f"{DATASETS}/sites/versions": {
        "source": {"engine": "duckdb", "uri": "new.csv"},
        "budgets": DATASET["budgets"],
    },
    QUERIES: GOOD,
    f"{QUERIES}/visits/retire": None,
    STREAMS: STREAM,
    f"{STREAMS}/hits/retire": None,
    "/api/v1/schedules": SCHEDULE,
    "/api/v1/schedules/preview": SCHEDULE,
    "/api/v1/requests/first/decision": APPROVAL,
    "/api/v1/proposals/first/approval": None,
    f"{STREAMS}/hits/elements": {"from": 1, "values": [1]},
}
"""A good body, or none, for each address."""

KEYS: Mapping[str, str] = {
    "no characters": "",
    "256 characters": "k" * 256,
    "100,000 characters": "k" * 100_000,
    "a letter beyond ASCII": "caf\u00e9",
    "a tab": "a\tb",
}
ROWS = [
    Row(f"a key of {name} at {path}", "POST", path, "1 to 255 printable ASCII", body=body,
        pointer="/Idempotency-Key", headers={"Idempotency-Key": key})
    for path, body in POSTS.items()
    for name, key in KEYS.items()
]  # fmt: skip
