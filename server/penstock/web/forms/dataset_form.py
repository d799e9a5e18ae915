"""Read the form that declares a dataset.

The form shows the names and types of the columns; the user enters everything else.  Fields
carry the number of their column, since a column's name may be any text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.web.forms.form_input import filled, number, scalar

TYPES = ("string", "integer", "number", "boolean", "date")
UNITS = (
    ("column", "one person per value of a column"),
    ("rows", "one person per row"),
    ("event", "one event per row (events are protected, not people)"),
)
NEIGHBORS = (
    ("add_remove", "one privacy unit added or removed"),
    ("replace", "one privacy unit replaced, the number of units unchanged"),
)
ACCOUNTANTS = (
    ("renyi", "Rényi: for every kind of noise"),
    ("gaussian", "Gaussian: for Gaussian queries only, and room for more of them"),
)
MOST_COLUMNS = 200

_SUFFIX = re.compile(r"(\.[A-Za-z0-9]{1,8}){0,2}$")


def spec_of(given: Mapping[str, str], tiers: Iterable[str], uri: str = "") -> dict[str, Any]:
    """Return the spec that a form describes; its model reports what is wrong with it.

    ``uri`` is the file if the form has no field for it.
    """
    uri = uri or given.get("uri", "").strip()
    columns = _columns(given) if uri else {}
    unit = given.get("unit", "")
    units = {"column": {"column": given.get("unit column", "")}, "rows": {"rows": 1}}
    epsilons = {tier: number(given.get(f"epsilon {tier}", "")) for tier in tiers}
    return {
        "name": given.get("name", "").strip(),
        "source": {"engine": "duckdb", "uri": uri} if uri else {"engine": "vector"},
        "neighboring": given.get("neighboring", ""),
        "delta": number(given.get("delta", "")),
        **filled(accountant=given.get("accountant") or None),
        "columns": columns,
        "budgets": {
            tier: {"epsilon": epsilon} for tier, epsilon in epsilons.items() if epsilon is not None
        },
        **({"privacy_unit": units.get(unit, unit)} if uri else {}),
        **filled(
            max_units=number(given.get("max_units", "")),
            same_people_as=given.get("same_people_as", "").strip() or None,
        ),
    }


def next_source(before: Mapping[str, str], place: str) -> dict[str, str]:
    """Return the source of new data: another file or view, read as the present one is."""
    kept = {name: before[name] for name in ("engine", "connection") if name in before}
    if "table" in before:
        return {**kept, "table": place}
    connected = "connection" in before and "://" in place
    return {**kept, "uri": place} if connected else {"engine": "duckdb", "uri": place}


def dated(source: Mapping[str, str]) -> str:
    """Return the name of the present file or view with a place for a date, as a suggestion."""
    if "table" in source:
        return f"{source['table']}_{{date}}"
    folder, slash, name = source.get("uri", "").rpartition("/")
    if not name or "*" in name:
        return folder + slash + name
    suffix = _SUFFIX.search(name)
    cut = suffix.start() if suffix and suffix.start() else len(name)
    return f"{folder}{slash}{name[:cut]}-{{date}}{name[cut:]}"


def _columns(given: Mapping[str, str]) -> dict[str, dict[str, object]]:
    columns = {}
    for place in range(MOST_COLUMNS):
        kind = given.get(f"type {place}", "")
        if kind:
            columns[given.get(f"column {place}", "")] = {
                "type": kind,
                **_declared(given, place, kind),
            }
    return columns


def _declared(given: Mapping[str, str], place: int, kind: str) -> dict[str, object]:
    """Return the declared bounds, categories and missing value of a column."""
    categories = [
        scalar(part.strip(), kind)
        for part in given.get(f"categories {place}", "").splitlines()
        if part.strip()
    ]
    missing = given.get(f"missing {place}", "").strip()
    return filled(
        **{part: number(given.get(f"{part} {place}", "")) for part in ("lower", "upper", "step")},
        categories=categories or None,
        missing=scalar(missing, kind) if missing else None,
    )
