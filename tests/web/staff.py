"""Provide a dataset of staff, and a count over it."""

CANARY = "Zebediah"


STAFF = f"person,team,hours\n{CANARY},red,7\nYolanda,blue,3\nXaver,red,5\n"


COUNT = {
    "name": "loans by shelf",
    "dataset": "loans",
    "aggregate": "count",
    "max_groups": "1",
    "max_rows": "3",
    "mechanism": "gaussian",
    "wish": "epsilon",
    "level public": "0.1",
    "level internal": "0.5",
}


DATASET = {
    "name": "staff",
    "neighboring": "add_remove",
    "delta": "1e-6",
    "unit": "column",
    "unit column": "person",
    "column 0": "person",
    "type 0": "string",
    "column 1": "team",
    "type 1": "string",
    "categories 1": "red\nblue\n",
    "column 2": "hours",
    "type 2": "number",
    "lower 2": "0",
    "upper 2": "10",
    "step 2": "0.5",
    "epsilon public": "1",
    "epsilon internal": "2",
}
