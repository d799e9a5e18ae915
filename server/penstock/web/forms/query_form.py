"""Read queries of each kind from forms; their models report what is wrong with them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from werkzeug.datastructures import MultiDict

from penstock.connectors.formulas.conditions import OF_NOTHING
from penstock.connectors.specs.models import MOST_GROUPINGS
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import table_of
from penstock.nesting import shallow
from penstock.services.schemas.histograms import FIT
from penstock.services.schemas.views import DatasetView
from penstock.spec_fields import folded
from penstock.web.forms.form_input import filled, number, scalar
from penstock.web.forms.privacy_terms import terms

Given = MultiDict[str, str]

SEVERAL = frozenset({"in", "not_in"})
MARGINALS = "marginals"
WORKLOAD = "workload"
OVER_COLUMNS = frozenset({MARGINALS, WORKLOAD})
"""Statistics whose groups are columns of their own."""

BOUNDED = frozenset({"sum", "mean"})
_TRUTHS = {"true": True, "false": False}
_MOST_CONDITIONS = 64
MOST = {"group": MOST_GROUPINGS, "where": _MOST_CONDITIONS}
"""Largest number of rows of each repeated part, by the first word of its fields' names."""


def places(given: Mapping[str, str], kind: str) -> range:
    """Return the row numbers of a repeated part, one more if the user added a row."""
    shown = [place for place in range(MOST[kind]) if f"{kind} {place}" in given]
    rows = max(shown, default=0) + 1 + (given.get("more") == kind)
    return range(min(rows, MOST[kind]))


def statistic(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the spec of a count, sum, mean, share or histogram, each number with its own noise."""
    return {
        **_spec_of(given, dataset),
        "aggregate": _aggregate(given),
        "group_by": [] if given.get("aggregate") in OVER_COLUMNS else list(_groupings(given)),
    }


def counts(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the spec of counts that share correlated noise."""
    more = {name: number(given.get(name, "")) for name in ("trade_off", "known_size")}
    released = given.get("release_size", "")
    return {
        **_spec_of(given, dataset),
        "structure": "correlated",
        "aggregate": _aggregate(given),
        "group_by": list(_groupings(given)),
        **filled(**more, release_size=_TRUTHS.get(released, released)),
    }


def sparse(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the spec of a sparse histogram: a count over too many keys to list."""
    by_tier = {tier: number(given.get(f"false {tier}", "")) for tier in dataset.budgets}
    own = filled(**by_tier)
    return {
        **_spec_of(given, dataset),
        "structure": "sparse_histogram",
        "aggregate": {"type": given.get("aggregate", "count")},
        "group_by": [{"column": column} for column in [given.get("keys of", "")] if column],
        "domain": _domain(given),
        "false_keys": own or number(given.get("false_keys", "")) or FIT,
    }


def statement(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return a query in SQL.  Raises ``InvalidInput`` if it reads another dataset."""
    text = given.get("sql", "").strip()
    parsed_statement = parsed(text)
    if folded(table_of(parsed_statement)) != folded(dataset.name):
        raise parsed_statement.source.refusal(
            parsed_statement.table, f"Choose the dataset that is read, or write {dataset.name}."
        )
    return {
        "name": given.get("name", "").strip(),
        "sql": text,
        "contribution": _contribution(given),
        **terms(given, dataset.budgets),
    }


def vector(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the spec of a vector whose exact values are in the form; nothing stores them."""
    return {
        "name": given.get("name", "").strip(),
        "dataset": dataset.name,
        "values": [number(line) for line in _lines(given, "values")],
        "sensitivity": sensitivity(given),
        **filled(
            keys=_lines(given, "keys") or None,
            step=number(given.get("step", "")),
            bound=number(given.get("bound", "")),
        ),
        **terms(given, dataset.budgets),
    }


def sensitivity(given: Given) -> dict[str, object]:
    """Return the sensitivities that the sender of a vector asserts."""
    return filled(**{norm: number(given.get(norm, "")) for norm in ("l1", "l2", "linf")})


def without_values(spec: dict[str, Any]) -> dict[str, Any]:
    """Return the spec to preview: without values, a vector is previewed by its keys."""
    return {name: part for name, part in spec.items() if name != "values" or part}


def _spec_of(given: Given, dataset: DatasetView) -> dict[str, Any]:
    """Return the part of the spec that all queries over the server's data have."""
    return {
        "name": given.get("name", "").strip(),
        "dataset": dataset.name,
        "where": list(_conditions(given, dataset)),
        "contribution": _contribution(given),
        **terms(given, dataset.budgets),
    }


def _contribution(given: Given) -> dict[str, object]:
    return filled(
        max_groups=number(given.get("max_groups", "")),
        max_rows_per_group=number(given.get("max_rows", "")),
    )


def _aggregate(given: Given) -> dict[str, object]:
    kind = given.get("aggregate", "count")
    if kind == MARGINALS:
        order = filled(up_to=number(given.get("up_to", "")))
        return {"type": kind, "columns": list(_groupings(given)), **order}
    if kind == WORKLOAD:
        matrices = {field: _matrices(given, field) for field in ("queries", "strategy")}
        return {"type": kind, "columns": list(_groupings(given)), **matrices}
    if kind == "moments":
        weights = filled(weights=_weights(given))
        return {"type": kind, "columns": given.getlist("factors"), **weights}
    if kind == "regression":
        own = filled(outcome=given.get("column", ""), weights=_weights(given))
        return {"type": kind, "predictors": given.getlist("factors"), **own}
    if kind == "quantiles":
        return {"type": kind, "column": given.get("column", ""), **_quantiles(given)}
    if kind not in BOUNDED | {"histogram", "uncategorized"}:
        return {"type": kind, **filled(columns=given.getlist("columns") or None)}
    column = given.get("column", "")
    if kind == "histogram":
        return {"type": kind, "column": column, "bins": _numbers(given.get("bins", ""))}
    if kind == "uncategorized":
        return {"type": kind, "column": column}
    bounds = filled(**{part: number(given.get(part, "")) for part in ("lower", "upper", "step")})
    return {"type": kind, "column": column, **bounds}


def _matrices(given: Given, field: str) -> object:
    """Return the matrices typed as JSON, or else the named one; the model refuses other texts."""
    text = given.get(f"{field}_rows", "").strip()
    return _document(text) if text else given.get(field) or "identity"


def _document(text: str) -> object:
    """Return what is typed as JSON, or the text itself, which the model refuses."""
    try:
        return json.loads(shallow(text))
    except ValueError:
        return text


def _weights(given: Given) -> object:
    """Return weights as JSON or as previews show them, ``n 5, sum:x 8, sum:x,y 7``.

    Returns other texts as they are: ``equal``, none, and what the model refuses.
    """
    text = given.get("weights", "").strip()
    if text.startswith("{"):
        return _document(text)
    weights: dict[str, object] = {}
    label = ""
    for part in text.split(","):  # a label may have a comma: it goes on until a number
        name, _, last = part.strip().rpartition(" ")
        weight = number(last)
        if isinstance(weight, str | None) or not name:
            label += f"{part.strip()},"
        elif label + name.strip() in weights:
            return text
        else:
            weights[label + name.strip()] = weight
            label = ""
    return text if label else weights


def _quantiles(given: Given) -> dict[str, object]:
    bounds = {part: number(given.get(part, "")) for part in ("lower", "upper")}
    return filled(
        **bounds,
        probabilities=_numbers(given.get("probabilities", "")) or None,
        bins=number(given.get("bins", "")),
        scale=given.get("scale") or None,
    )


def _groupings(given: Given) -> Iterator[dict[str, object]]:
    for place in range(MOST["group"]):
        column = given.get(f"group {place}", "")
        bins = _numbers(given.get(f"edges {place}", ""))
        if column:
            yield {"column": column, **({"bins": bins} if bins else {})}


def _conditions(given: Given, dataset: DatasetView) -> Iterator[dict[str, object]]:
    for place in range(MOST["where"]):
        column, op = given.get(f"where {place}", ""), given.get(f"op {place}", "=")
        if not column:
            continue
        kind = dataset.columns.get(column, {}).get("type", "string")
        text = given.get(f"value {place}", "")
        parts = [part.strip() for part in text.split(",")] if op in SEVERAL else [text.strip()]
        values = [scalar(part, kind) if part else None for part in parts]
        if op in OF_NOTHING and not text.strip():
            yield {"column": column, "op": op}
            continue
        yield {"column": column, "op": op, "value": values if op in SEVERAL else values[0]}


def _domain(given: Given) -> dict[str, object]:
    kind = given.get("domain", "uint64")
    if kind == "uint64":
        return {"type": kind, **filled(size=number(given.get("size", "")))}
    if kind == "string":
        length = number(given.get("length", ""))
        return {"type": kind, "alphabet": given.get("alphabet", ""), **filled(length=length)}
    return {"type": kind}


def _lines(given: Given, field: str) -> list[str]:
    return [line.strip() for line in given.get(field, "").splitlines() if line.strip()]


def _numbers(text: str) -> list[object]:
    return [number(part) for part in text.split(",")] if text.strip() else []
