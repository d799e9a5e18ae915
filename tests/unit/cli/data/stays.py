"""Hold a dataset of stays, for commands on versions."""

SPEC = {
    "name": "stays",
    "source": {"engine": "duckdb", "uri": "stays.csv"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
    },
    "budgets": {"public": {"epsilon": 1}},
}
