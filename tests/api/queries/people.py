"""Provide a file of people, and counts over it that are protected together."""

from typing import Any

HABITS = ["smokes", "runs"]


ROWS = "person,town,smokes,runs\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{number % 2 == 0},{number % 5 == 0}\n"
    for number in range(400)
)


PEOPLE: dict[str, Any] = {
    "name": "people",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south"]},
        **{habit: {"type": "boolean"} for habit in HABITS},
    },
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 8}},
}


ASKED: dict[str, Any] = {
    "name": "habits",
    "dataset": "people",
    "aggregate": {"type": "count_units", "columns": HABITS},
    "structure": "correlated",
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.005}, "internal": {"rho": 0.5}},
}
