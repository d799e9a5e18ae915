"""Provide a schedule over a dataset in a file, switched off, for who may see it."""

from typing import Any

from tests.api.world import World

NAME = "nightly"

COUNTED: dict[str, Any] = {
    "name": "stays",
    "source": {"engine": "duckdb", "uri": "stays.csv"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {"person": {"type": "string"}},
    "budgets": {"internal": {"epsilon": 1}},
}
SCHEDULE: dict[str, Any] = {
    "name": NAME,
    "dataset": "stays",
    "cron": "0 3 * * *",
    "version": {
        "source": {"engine": "duckdb", "uri": "stays-{date}.csv"},
        "budgets": {"internal": {"epsilon": 1.0}},
    },
    "streams": [
        {
            "stream": "daily",
            "query": {"aggregate": {"type": "count_units"}, "contribution": {"max_groups": 1}},
        }
    ],
    "total": {"internal": 5.0},
}


def schedule_in(world: World) -> str:
    """Register the dataset, make the schedule, and return its name."""
    file = world.server.settings.home.with_name("stays.csv")
    file.write_text("person\na\n")
    source = {"engine": "duckdb", "uri": str(file)}
    world.answer("POST", "/api/v1/datasets", {**COUNTED, "source": source}, by="root")
    world.answer("POST", "/api/v1/schedules", SCHEDULE, by="root")
    return NAME
