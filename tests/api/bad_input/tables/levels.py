"""Provide invalid changes of a query's levels."""

from typing import Any

from tests.api.bad_input.row import Absent, Flaw, rows_of

VISITS = "/api/v1/queries/visits"
BY_TOWN = "/api/v1/queries/by_town"
VALUES = [120, 7]
GOOD: dict[str, Any] = {"levels": {"public": {"epsilon": 0.2}}}
FINER: dict[str, Any] = {"levels": {"internal": {"epsilon": 1}}, "values": VALUES}
OF_FILE: dict[str, Any] = {"levels": {"public": {"epsilon": 0.015}}}


def at(tier: str, **level: Any) -> dict[str, Any]:
    """Return the level of one tier."""
    return {"levels": {tier: level}}


FLAWS = [
    Flaw("no levels", {"levels": {}}, "/levels", "Enter a level"),
    Flaw("levels left out", {"levels": Absent}, "/levels", "Enter a level for at least one tier"),
    Flaw("a share", {"share": 0.5}, "/share", "unknown"),
    Flaw("a tier that does not exist", at("moon", rho=1), "/levels/moon", "no tier 'moon'"),
    Flaw("a tier without a budget", at("street", rho=1), "/levels/street", "has no budget"),
    Flaw("a measure twice", at("public", rho=1, level=1), "/levels/public", "exactly one of"),
    Flaw("epsilon 0", at("public", epsilon=0), "/levels/public/epsilon", "above 0"),
    Flaw("more accurate than those above", at("public", epsilon=0.505), "/values", "ceiling"),
    Flaw("more accurate than the ladder", at("internal", level=0.01), "/levels/internal",
         "than the most accurate level of this query"),
    Flaw("values of another query", {"values": [119, 7]}, "/values", "leave values out"),
    Flaw("values that are not needed", {"values": VALUES}, "/values", "leave values out"),
]  # fmt: skip
ABOVE_THE_CEILING = [
    Flaw("no values", {"values": Absent}, "/values", "than its ceiling.*send its exact values"),
    Flaw("null for values", {"values": None}, "/values", "send its exact values"),
    Flaw("too few values", {"values": [120]}, "/values", "1 values; 'visits' .* with 2"),
    Flaw("too many values", {"values": [*VALUES, 0]}, "/values", "3 values; .* with 2"),
    Flaw("a value between steps", {"values": [120.5, 7]}, "/values/0", "not a multiple of"),
    Flaw("a text among values", {"values": ["120", 7]}, "/values/0", "is not a number"),
    Flaw("values above the bound", {"values": [2**40, 7]}, "/values/0", "above the declared"),
    Flaw("more than the budget", at("internal", epsilon=3.9), None, "does not allow it", 409,
         "BUDGET_EXHAUSTED"),
]  # fmt: skip
COMPUTED = [
    Flaw("values", {"values": [1, 2, 3]}, "/values", "computes 'by_town' itself; leave values out"),
    Flaw("no values at all", {"values": []}, "/values", "computes 'by_town' itself"),
    Flaw("values above the ceiling", {**at("internal", epsilon=0.03), "values": [1, 2, 3]},
         "/values", "computes 'by_town' itself"),
    Flaw("keys", {"keys": ["north"]}, "/keys", "unknown"),
]  # fmt: skip

ROWS = [
    *rows_of("levels", VISITS, GOOD, FLAWS, verb="PATCH"),
    *rows_of("above the ceiling", VISITS, FINER, ABOVE_THE_CEILING, verb="PATCH"),
    *rows_of("levels of computed", BY_TOWN, OF_FILE, COMPUTED, verb="PATCH"),
    *rows_of("levels of nothing", "/api/v1/queries/moon", GOOD,
             [Flaw("a good one", {}, None, "no query 'moon'", 404)], verb="PATCH"),
    *rows_of("levels by an analyst", VISITS, GOOD,
             [Flaw("a good one", {}, None, "role admin", 403)], verb="PATCH", by="ann"),
]  # fmt: skip
