"""A dataset as a form declares it: names and types of columns are known, all else is typed.

A form has its columns by number, since a column may be called anything.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.web.forms.form_input import filled, number, scalar

TYPES = ("string", "integer", "number", "boolean", "date")
UNITS = (
    ("column", "a column names whose record a row is"),
    ("rows", "every row is somebody of their own"),
    ("event", "every row is an event that is protected by itself"),
)
NEIGHBORS = (
    ("add_remove", "with somebody more or fewer"),
    ("replace", "with somebody replaced, as many as before"),
)
ACCOUNTANTS = (
    ("renyi", "every kind of noise"),
    ("gaussian", "Gaussian queries alone, of which more fit"),
)
MOST_COLUMNS = 200


def wanted(given: Mapping[str, str], tiers: Iterable[str], uri: str = "") -> dict[str, Any]:
    """The spec that a form describes; what is wrong with it is for its model to say.

    ``uri`` is the file of a form that does not name one.
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
    """What a column may hold, as far as it is said."""
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
