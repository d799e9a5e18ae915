"""Hold previews of queries, as a server answers them."""

from collections.abc import Callable
from typing import Any

import httpx

Handler = Callable[[httpx.Request], httpx.Response]


PATH = "POST /api/v1/queries/preview"


TIER: dict[str, Any] = {
    "tier": "public",
    "level": {"parameter": "variance", "value": 1319.04},
    "guarantee": {"definition": "zcdp", "rho": 0.00038, "epsilon": 0.1, "delta": 1e-6},
    "charge": {"order": 22.0, "loss": 0.0087, "failure": 2.2e-19, "share": 0.0164},
    "error": {"standard_deviation": 36.3, "confidence": 0.95, "half_width": 71.2},
    "room": {"fits": False, "needed_share": 0.0164, "remaining_share": 0.01, "largest_share": 0.01},
}


ANSWER: dict[str, Any] = {
    "query": "visits",
    "dataset": "sites",
    "sensitivity": {"l1": 1.0, "l2": 1.0, "linf": 1.0},
    "dimension": 2,
    "refusal": "The budget of tier 'public' does not allow it.",
    "tiers": [TIER],
}


READ = {"epsilon": 1.63, "delta": 1e-6}


RANKS = [{"probability": 0.5, "error": {**TIER["error"], "half_width": 23.1}}]


QUANTILES: dict[str, Any] = {**ANSWER, "tiers": [{**TIER, "ranks": RANKS}]}
"""The preview of a query for quantiles."""


EXPECTED = {
    "rows": 1000,
    "weights": [{"name": "n", "weight": 5}, {"name": "sum:age", "weight": 8}],
    "estimates": [
        {"name": "n", "standard_deviation": 36.3},
        {"name": "variance:age", "standard_deviation": None},
    ],
}


MOMENTS: dict[str, Any] = {**ANSWER, "tiers": [{**TIER, "expected": EXPECTED}]}
"""The preview of a query for moments."""


COMPOSED = {"levels": [73.1, 138.6], "epsilon": 1.117, "delta": 1e-6}


INDEPENDENT: dict[str, Any] = {
    **ANSWER,
    "tiers": [{**TIER, "composed": COMPOSED, "expected_maximum": 91.3, "at_delta": READ}],
    "powers": {
        "tier": "public",
        "epsilon": 1.0,
        "recommended": 2.0,
        "reason": "The tiers have 2 levels.",
        "choices": [{"p": 1.0, "expected_maximum": 156.1}, {"p": 2.0, "expected_maximum": 87.7}],
    },
}
"""The preview of a query whose levels are independent draws."""
