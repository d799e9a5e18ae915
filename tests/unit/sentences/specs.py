"""Provide one spec of every kind of statistic, and what its sentence is."""

from typing import Any

GROUPS = [{"column": "plan"}, {"column": "year"}]
WIDE = {"column": "age", "bins": [0, 20, 40, 60, 80]}

PERSON = {"column": "person_id"}
ONE_PLAN = {"max_groups": 1, "max_rows_per_group": 3}

COMPUTED: list[tuple[dict[str, Any], Any, str]] = [
    (
        {"aggregate": {"type": "count"}},
        {"rows": 1},
        "Number of rows; each row is protected by itself",
    ),
    (
        {"aggregate": {"type": "count"}, "group_by": GROUPS, "contribution": ONE_PLAN},
        PERSON,
        (
            "Number of rows by plan and year; each person counts in at most 1 group, with "
            "at most 3 rows in each"
        ),
    ),
    (
        {"aggregate": {"type": "count", "columns": ["smoker", "insured"]}},
        "event",
        (
            "Number of rows in which each of these is true: smoker, insured; each event is "
            "protected by itself"
        ),
    ),
    (
        {
            "aggregate": {"type": "count_units"},
            "group_by": [{"column": "plan"}],
            "contribution": {"max_groups": 2},
        },
        PERSON,
        "Number of people by plan; each person counts in at most 2 plans",
    ),
    (
        {
            "aggregate": {"type": "count_units"},
            "group_by": GROUPS,
            "where": [
                {
                    "any": [
                        {"column": "age", "op": ">=", "value": 18},
                        {"column": "plan", "op": "in", "value": ["free", "pro team"]},
                    ]
                },
                {"not": {"column": "note", "op": "is_null"}},
            ],
            "contribution": {"max_groups": 2},
        },
        {"column": "householdID"},
        (
            "Number of households by plan and year where (age is at least 18 or plan is one "
            'of free, "pro team") and not (note is missing); each household counts in at '
            "most 2 groups"
        ),
    ),
    (
        {
            "aggregate": {"type": "sum", "column": "cost", "lower": 0, "upper": 100, "step": 0.5},
            "group_by": [WIDE],
            "contribution": ONE_PLAN,
        },
        PERSON,
        (
            "Sum of cost, values cut to 0 to 100, rounded to steps of 0.5, by age (4 bins "
            "of 20 from 0 to 80); each person counts in at most 1 group, with at most 3 "
            "rows in each"
        ),
    ),
    (
        {
            "aggregate": {"type": "mean", "column": "cost"},
            "derived": {
                "adult": {
                    "case": [{"when": {"column": "age", "op": ">=", "value": 18}, "then": 1}],
                    "else": 0,
                }
            },
            "where": [{"column": "adult", "op": "=", "value": 1}],
            "contribution": ONE_PLAN,
        },
        PERSON,
        (
            "Mean of cost where adult is 1; with adult is (1 if age is at least 18, else "
            "0); each person counts in at most 1 group, with at most 3 rows in each"
        ),
    ),
    (
        {
            "aggregate": {"type": "histogram", "column": "cost", "bins": [0, 1, 10, 100]},
            "group_by": [{"column": "plan"}],
            "contribution": {"max_groups": 4, "max_rows_per_group": 1},
        },
        PERSON,
        (
            "Number of rows by plan and cost (bins from 0, 1, 10, the last to 100); each "
            "person counts in at most 4 groups, with at most 1 row in each"
        ),
    ),
    (
        {
            "aggregate": {"type": "uncategorized", "column": "plan"},
            "contribution": {"max_rows_per_group": 1},
        },
        PERSON,
        ("Share of rows in no declared category of plan; each person counts with at most 1 row"),
    ),
    (
        {
            "aggregate": {
                "type": "moments",
                "columns": ["cost", "age"],
                "bounds": {"cost": [0, 50]},
                "grid": 64,
            },
            "contribution": {"max_rows_per_group": 1},
        },
        PERSON,
        (
            "Means, variances and correlations of cost, age, with cost cut to 0 to 50, on a "
            "grid of 64 steps; each person counts with at most 1 row"
        ),
    ),
    (
        {
            "aggregate": {"type": "moments", "columns": ["cost"], "order": 1, "weights": "equal"},
            "contribution": {"max_rows_per_group": 1},
        },
        PERSON,
        (
            "Number of rows, sums and means of cost, with equal weights; each person counts "
            "with at most 1 row"
        ),
    ),
    (
        {
            "aggregate": {
                "type": "regression",
                "outcome": "cost",
                "predictors": ["age"],
                "weights": {"n": 2},
            },
            "contribution": {"max_rows_per_group": 1},
        },
        PERSON,
        ("Regression of cost on age, with weights n 2; each person counts with at most 1 row"),
    ),
    (
        {
            "aggregate": {
                "type": "quantiles",
                "column": "cost",
                "probabilities": [0.5, 0.9],
                "bins": 64,
            },
            "contribution": {"max_rows_per_group": 2},
        },
        {"column": "Nr."},
        (
            "Quantiles of cost at 0.5, 0.9, from 64 bins; each privacy unit counts with at "
            "most 2 rows"
        ),
    ),
    (
        {"aggregate": {"type": "quantiles", "column": "cost", "scale": "log", "whole": True}},
        {"rows": 1},
        (
            "Quantiles of cost at 0.25, 0.5, 0.75, from bins between powers of two, of "
            "whole numbers; each row is protected by itself"
        ),
    ),
    (
        {
            "aggregate": {"type": "marginals", "columns": [*GROUPS, WIDE]},
            "contribution": {"max_groups": 1},
        },
        PERSON,
        (
            "Marginals of all sets of at most 2 columns: plan and year and age (4 bins of "
            "20 from 0 to 80); each person counts in at most 1 cell"
        ),
    ),
    (
        {
            "aggregate": {
                "type": "marginals",
                "columns": GROUPS,
                "sets": [["plan"], ["plan", "year"]],
            },
            "contribution": {"max_groups": 2},
        },
        PERSON,
        ("Marginals of plan, plan and year: plan and year; each person counts in at most 2 cells"),
    ),
    (
        {
            "aggregate": {
                "type": "workload",
                "columns": [WIDE, {"column": "year"}],
                "queries": ["prefix", [[1, 0], [1, 1]]],
                "strategy": ["tree", "identity"],
            },
            "contribution": {"max_groups": 1},
        },
        PERSON,
        (
            "Answers over age (4 bins of 20 from 0 to 80) and year: the first keys up to "
            "each one of age, 2 rows of integers of year (1 0/1 1); protected are a tree of "
            "sums of age, each key of year; each person counts in at most 1 cell"
        ),
    ),
    (
        {
            "aggregate": {"type": "count"},
            "structure": "sparse_histogram",
            "domain": {"type": "string", "alphabet": "abc", "length": 4},
            "group_by": [{"column": "word"}],
            "contribution": {"max_groups": 5, "max_rows_per_group": 1},
        },
        PERSON,
        (
            "Number of rows by word (texts of 4 characters from abc), of keys that stand "
            "out alone; each person counts in at most 5 words, with at most 1 row in each"
        ),
    ),
    (
        {
            "aggregate": {"type": "count_units"},
            "structure": "correlated",
            "known_size": 1000,
            "group_by": [{"column": "plan"}],
            "contribution": {"max_groups": 1},
        },
        PERSON,
        (
            "Number of people by plan; the counts are protected together, whose total is "
            "known to be 1,000; each person counts in at most 1 plan"
        ),
    ),
    (
        {
            "aggregate": {"type": "count_units", "columns": ["smoker", "insured"]},
            "structure": "correlated",
            "release_size": False,
            "trade_off": None,
        },
        PERSON,
        (
            "Number of people with a row in which each of these is true: smoker, insured; "
            "the counts are protected together, without their size"
        ),
    ),
]
"""Computed queries: the spec, the privacy unit and the sentence."""

VECTORS: list[tuple[dict[str, Any], Any, str]] = [
    (
        {
            "keys": ["north", "south and east"],
            "step": 0.5,
            "bound": 100,
            "sensitivity": {"l1": 2, "linf": 1},
        },
        None,
        (
            'Values that were sent for 2 keys (north, "south and east"), in steps of 0.5 '
            "from -100 to 100; each privacy unit changes them by at most 2 in all and 1 in "
            "one number"
        ),
    ),
    (
        {"sensitivity": {"l1": 1}},
        PERSON,
        (
            "Values that were sent, in steps of 1 from -2147483648 to 2147483648; each "
            "person changes them by at most 1 in all"
        ),
    ),
]
