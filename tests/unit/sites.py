"""Provide a dataset of pushed values with three tiers, and a query of it, as specs."""

SITES = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {
        "public": {"epsilon": 1.0},
        "partner": {"epsilon": 2.0},
        "internal": {"epsilon": 4.0},
    },
}
VISITS = {
    "name": "visits",
    "dataset": "sites",
    "keys": ["a", "b", "c"],
    "values": [120, 7, 0],
    "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
    "mechanism": "gaussian",
    "levels": {
        "public": {"epsilon": 0.1},
        "partner": {"epsilon": 0.25},
        "internal": {"epsilon": 0.5},
    },
}
