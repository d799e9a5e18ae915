"""Say what to enter in an empty field, by its name, each with an example.

A name with a slash is that of a field within another one.
"""

from collections.abc import Sequence

_COLUMN = "Choose the column that it is about"

TO_ENTER = {
    "name": 'Enter a name: 1 to 64 characters, a letter or digit first, for example "north_2025".',
    "dataset": 'Name the dataset of the query, for example "visits".',
    "query": 'Name a query, for example "visits_by_area".',
    "stream": 'Name a stream, for example "visits_a_day".',
    "source": 'Say where the data are, for example {"engine": "duckdb", "uri": "visits.csv"}.',
    "engine": 'Enter "duckdb" for files, "vector" for numbers sent here, or such as "postgresql".',
    "uri": "Enter the path of a CSV or Parquet file, for example visits.csv.",
    "connection": "Enter the name of a connection that the operator set, for example warehouse.",
    "table": "Enter the view that has the data, for example public.visits.",
    "privacy_unit/column": "Choose the column that names whose record a row is, such as person.",
    "rows": 'Enter 1: every row is a privacy unit, {"rows": 1}.',
    "neighboring": 'Say which data are compared: "add_remove" or "replace".',
    "delta": "Enter the chance that the guarantee fails: from 0 to below 1, for example 1e-6.",
    "budgets": "Enter an epsilon for at least one tier: a number above 0, for example 1.",
    "epsilon": "Enter an epsilon: a number above 0, for example 0.5.",
    "purpose": 'Say what the query is for, for example "the yearly report".',
    "comment": "Write a comment of up to 2000 characters.",
    "decision": 'Decide: "approve" or "decline".',
    "group": "Enter the group as the identity provider writes it, for example /staff/research.",
    "cron": "Enter five fields of cron, for example 0 3 * * 1 for Mondays at 3:00.",
    "on": "Enter true to switch it on, false to switch it off.",
    "total": 'Enter the most epsilon of all versions for each tier, for example {"public": 5}.',
    "version": "Enter a new version's source and budgets, as for registering one.",
    "columns": "Name at least one column, for example visits.",
    "column": f"{_COLUMN}, for example visits.",
    "group_by/column": "Choose the column by whose values rows are grouped, for example area.",
    "where/column": "Choose the column that is compared, for example year.",
    "op": 'Say how it is compared, for example "=".',
    "value": "Enter what it is compared with, for example 2025.",
    "sql": "Write one SELECT from a dataset, for example SELECT COUNT(*) FROM visits.",
    "any": 'List at least one condition, for example {"column": "year", "op": "=", "value": 2025}.',
    "all": 'List at least one condition, for example {"column": "year", "op": "=", "value": 2025}.',
    "not": 'Enter the condition that does not hold, such as {"column": "area", "op": "is_null"}.',
    "add": 'List at least one integer or column, for example [{"column": "visits"}, 1].',
    "subtract": 'List what is subtracted from and what is, for example [{"column": "visits"}, 1].',
    "multiply": 'List at least one integer or column, for example [2, {"column": "visits"}].',
    "negate": 'Enter the integer or column whose opposite it is, such as {"column": "visits"}.',
    "case": 'List conditions with what belongs to each: {"when": ..., "then": "young"}.',
    "when": 'Enter the condition of the case, such as {"column": "age", "op": "<", "value": 18}.',
    "then": 'Enter what belongs to the condition, for example "young" or 1.',
    "outcome": f"{_COLUMN} that is explained, for example visits.",
    "queries": "Say what is asked over the keys of each column, for example all_ranges.",
    "predictors": "Name at least one column that explains the outcome, for example age.",
    "bins": "Enter the edges of the bins, rising, two or more: for example 0, 18, 65, 120.",
    "type": 'Enter the type, for example "count" of an aggregate, "integer" of a column.',
    "aggregate": 'Say what to compute, for example {"type": "count"}.',
    "structure": 'Say how it is protected, for example "correlated".',
    "mechanism": 'Choose the noise, for example "gaussian".',
    "levels": "Enter a level for at least one tier: above 0, for example an epsilon of 0.1.",
    "share": "Enter the share of every tier's budget that it takes: above 0, up to 1, such as 0.1.",
    "p": "Enter the power of the noise: a number from 1 to 16, for example 4.",
    "domain": 'Say which keys there could be, for example {"type": "uint64"}.',
    "alphabet": "Enter the characters that texts are made of, each once: for example 0123456789.",
    "domain/length": "Enter how many characters each text has, for example 8.",
    "length": "Enter how many elements it has at most, for example 365; null for no end.",
    "false_keys": "Enter how many keys may be listed by mistake: above 0, for example 0.1.",
    "sensitivity": 'Enter how far one person changes the numbers, for example {"l1": 1}.',
    "l1": "Enter by how much one person changes all numbers together at most, for example 1.",
    "values": "Enter at least one number, for example 120.",
    "keys": "Enter a name for each number, for example north.",
    "from": "Enter the number of the first element that is sent, for example 1.",
    "roles": "Choose at least one role: analyst, admin or auditor.",
    "users": 'List the users, for example [{"name": "ann", "roles": ["analyst"]}].',
    "scopes": "Choose at least one role, or leave the field out for all of them.",
    "tier": "Choose a tier, for example public.",
    "user": "Choose a user, for example ann.",
    "note": "Enter the checkpoint's note, with the cosigner's line under those that it has.",
}


def is_empty(entered: object) -> bool:
    """Return True if nothing was entered: no text, no number, and no list or object of such."""
    if isinstance(entered, list | tuple) and len(entered) == 1:
        return is_empty(entered[0])
    if isinstance(entered, str):
        return not entered.strip()
    return entered is None or (isinstance(entered, list | tuple | dict) and not entered)


def to_enter(names: Sequence[str]) -> str | None:
    """Return what to enter in a field, by its name and those of the fields around it, if known."""
    own = names[-1] if names else ""
    around = [f"{outer}/{own}" for outer in reversed(names[:-1])]
    return next((TO_ENTER[name] for name in (*around, own) if name in TO_ENTER), None)
