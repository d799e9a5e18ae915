"""Provide a file of loans, and a sparse histogram over its books."""

from typing import Any

LARGEST = 2**64 - 1


ROWS = "person,book,page\n" + "".join(
    f"p{number},{LARGEST if number % 2 else 7},ab\n" for number in range(3000)
)


LOANS: dict[str, Any] = {
    "name": "loans",
    "privacy_unit": {"column": "person"},
    "neighboring": "replace",
    "delta": 1e-6,
    "max_units": 1_000_000,
    "columns": {
        "person": {"type": "string"},
        "book": {"type": "integer"},
        "page": {"type": "string"},
    },
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 4}},
}


BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": {"public": 0.001, "internal": 0.01},
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 2},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.25}, "internal": {"epsilon": 1.5}},
}
