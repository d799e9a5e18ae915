"""Provide a file of people with ages, and means over it."""

from typing import Any

PEOPLE: dict[str, Any] = {
    "name": "people",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south", "west"]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
    },
    "budgets": {"public": {"epsilon": 1.0}, "internal": {"epsilon": 8.0}},
}
