"""Hold a release of means, as a server answers it."""

from typing import Any

from tests.client.servers.answers import ERROR, RELEASE

MEAN: dict[str, Any] = {
    "lower": [39.5, 0.0],
    "upper": [41.0, 100.0],
    "middle": 50.0,
    "centered_sums": [-20_000.0, 3.0],
    "sum_error": ERROR,
    "counts": [2000.0, -1.5],
    "count_error": {"standard_deviation": 0.9, "confidence": 0.95, "half_width": 1.77},
}


MEANS = {**RELEASE, "values": [40.0, 53.0], "mean": MEAN}
