"""Write the registered spec of a query in words."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from penstock.figures import percent

_ELSEWHERE = frozenset(
    {"name", "dataset", "mechanism", "levels", "share", "keys", "max_levels", "sensitivity", "p"}
)
_COUNTED = {
    "count": "number of rows",
    "count_units": "number of privacy units",
}
_COLUMNS = {
    "count": "number of rows in which each of these is true",
    "count_units": "number of privacy units for which each of these is true",
}
_OPERATORS = {
    "=": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
    "in": "is one of",
    "not_in": "is none of",
    "is_null": "is missing",
    "is_not_null": "is not missing",
}
_MOST_WEIGHTS = 21
_ARITHMETIC = {"add": " + ", "subtract": " - ", "multiply": " * "}
_JOINING = {"any": " or ", "all": " and "}
_ROWS = {
    "identity": "each key",
    "total": "all keys together",
    "prefix": "the first keys up to each one",
    "all_ranges": "all ranges of keys",
    "tree": "a tree of sums",
    "marginals": "each key and all keys",
}
_STRUCTURES = {
    "sparse_histogram": "only keys that are found in the data, and a few false ones",
    "correlated": "counts protected together, with less noise than each separately",
}


def question(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each part of a spec as a label and a phrase.

    A part without a phrase is shown as it was registered.
    """
    writers: Mapping[str, tuple[str, Callable[[Any], str]]] = {
        "aggregate": ("Statistic", _aggregate),
        "derived": ("Derived columns", _derived),
        "group_by": ("Group by", _groups),
        "where": ("Rows where", _conditions),
        "contribution": ("Contribution of one privacy unit", _contribution),
        "domain": ("Possible keys", _domain),
        "structure": ("Structure", lambda name: _STRUCTURES[name]),
    }
    lines = []
    for name, part in spec.items():
        if name in _ELSEWHERE or part in (None, [], {}):
            continue
        label, words = writers.get(name, (name.replace("_", " ").capitalize(), _plain))
        try:
            lines.append((label, words(part)))
        except (AttributeError, KeyError, TypeError, ValueError):
            lines.append((label, _plain(part)))
    return lines


def kept(structure: Mapping[str, Any]) -> str:
    """Return the structure of a stream's sums, in words."""
    kind, children = structure.get("kind"), structure.get("k")
    if kind == "kary":
        named = "a binary tree" if children == 2 else f"a tree with {children} children per node"
        return f"{named}, with differences of sums" if structure.get("subtracting") else named
    if kind == "epochs":
        trees = "binary trees" if children == 2 else f"trees with {children} children per node"
        return f"{trees}, each over twice as many steps as the one before"
    return {
        "smooth_binary": "a binary tree whose totals all have the same error",
        "square_root": "the square root of the matrix of sums",
        "buffered": "nearly the square root of the matrix of sums, by a few buffers",
    }.get(str(kind), str(kind).replace("_", " "))


def _plain(part: object) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)


def _aggregate(part: Mapping[str, Any]) -> str:
    kind = part["type"]
    if kind in _COUNTED:
        columns = part.get("columns")
        return f"{_COLUMNS[kind]}: {', '.join(columns)}" if columns else _COUNTED[kind]
    if kind == "histogram":
        return f"number of rows in each bin of {part['column']}: {_bins(part['bins'])}"
    if kind == "uncategorized":
        return f"share of rows in no declared category of {part['column']}"
    if kind == "moments" and part.get("order") == 1:
        return f"number of rows, sums and means of {', '.join(part['columns'])}"
    if kind == "moments":
        return f"means, variances and correlations of {', '.join(part['columns'])}{_weights(part)}"
    if kind == "regression":
        return f"regression of {part['outcome']} on {', '.join(part['predictors'])}{_weights(part)}"
    if kind == "quantiles":
        return _quantiles(part)
    if kind == "marginals":
        return f"marginals of {_sets(part)}: {_groups(part['columns'])}"
    if kind == "workload":
        return f"answers over {_groups(part['columns'])}: {_matrices(part)}"
    what = {"sum": "sum", "mean": "mean"}[kind]
    return f"{what} of {part['column']}{_bounds(part)}"


def _weights(part: Mapping[str, Any]) -> str:
    """Return the weights of numbers, if there are not too many to read; empty of none."""
    weights = part.get("weights")
    if not isinstance(weights, Mapping):
        return f", with {weights} weights" if weights else ""
    if len(weights) > _MOST_WEIGHTS:
        return f", with a weight for each of {len(weights)} numbers"
    return f", with weights {', '.join(f'{name} {own}' for name, own in weights.items())}"


def _quantiles(part: Mapping[str, Any]) -> str:
    probabilities = ", ".join(f"{each:g}" for each in part["probabilities"])
    name = f"quantiles of {part['column']} at {probabilities}"
    if part.get("scale") == "log":
        return f"{name}, from bins between powers of two"
    return f"{name}{_bounds(part)}, from {part['bins']} bins"


def _sets(part: Mapping[str, Any]) -> str:
    if part.get("sets"):
        return ", ".join(" and ".join(names) for names in part["sets"])
    return f"all sets of at most {part.get('up_to') or 2} columns"


def _matrices(part: Mapping[str, Any]) -> str:
    """Return the queries and the strategy of a workload, column by column."""
    queries, kept = (_rows(part[name], part["columns"]) for name in ("queries", "strategy"))
    return f"{queries}; protected are {kept}"


def _rows(rows: str | Sequence[Any], columns: Sequence[Any]) -> str:
    each = [rows] * len(columns) if isinstance(rows, str) else rows
    words = [_ROWS[own] if isinstance(own, str) else f"{len(own)} rows of integers" for own in each]
    if len(set(words)) == 1 and len(words) > 1:
        return f"{words[0]} of each column"
    names = [column["column"] for column in columns]
    return ", ".join(f"{own} of {name}" for own, name in zip(words, names, strict=True))


def _bounds(part: Mapping[str, Any]) -> str:
    lower, upper, step = part.get("lower"), part.get("upper"), part.get("step")
    bounds = ""
    if lower is not None and upper is not None:
        bounds = f", values cut to {lower} to {upper}"
    elif lower is not None or upper is not None:
        cut = f"at least {lower}" if upper is None else f"at most {upper}"
        bounds = f", values cut to {cut}"
    return bounds + (f", rounded to steps of {step}" if step is not None else "")


def _bins(edges: Sequence[Any]) -> str:
    return f"bins from {', '.join(map(str, edges[:-1]))}, the last to {edges[-1]}"


def _groups(part: Sequence[Mapping[str, Any]]) -> str:
    return " and ".join(
        f"{group['column']} ({_bins(group['bins'])})" if group.get("bins") else str(group["column"])
        for group in part
    )


def _conditions(part: Sequence[Mapping[str, Any]]) -> str:
    return " and ".join(map(_condition, part))


def _condition(part: Mapping[str, Any]) -> str:
    """Return a condition in words; several that are joined stand in parentheses."""
    if "not" in part:
        inner = _condition(part["not"])
        return f"not {inner}" if inner.startswith("(") else f"not ({inner})"
    for joining, word in _JOINING.items():
        if joining in part:
            return f"({word.join(map(_condition, part[joining]))})"
    comparison = f"{part['column']} {_OPERATORS[part['op']]}"
    return f"{comparison} {_value(part['value'])}" if "value" in part else comparison


def _derived(part: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} is {_expression(computed)}" for name, computed in part.items())


def _expression(part: Any) -> str:
    """Return what a derived column is computed from, in words."""
    if not isinstance(part, Mapping):
        return json.dumps(part, ensure_ascii=False)
    if "column" in part:
        return str(part["column"])
    if "negate" in part:
        return f"-{_expression(part['negate'])}"
    if "case" in part:
        cases = [
            f"{_expression(case['then'])} if {_condition(case['when'])}" for case in part["case"]
        ]
        last = _expression(part["else"]) if "else" in part else "missing"
        return f"({', '.join(cases)}, else {last})"
    [(name, operands)] = part.items()
    return f"({_ARITHMETIC[name].join(map(_expression, operands))})"


def _value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(value_part) for value_part in value)
    return _plain(value)


def _domain(part: Mapping[str, Any]) -> str:
    kind, size = part["type"], part.get("size")
    if kind == "uint64":
        return "integers of 64 bits" if size is None else f"integers from 0 to {size - 1:,}"
    if kind == "string":
        return f"texts of {part['length']} characters from {part['alphabet']}"
    return {"sha256_64": "texts of any length, by the first 64 bits of their SHA-256"}[kind]


def _contribution(part: Mapping[str, Any]) -> str:
    return ", ".join(_shares(part))


def _shares(part: Mapping[str, Any]) -> Iterator[str]:
    groups, rows = part.get("max_groups"), part.get("max_rows_per_group")
    if groups is None and rows is None:
        raise KeyError("contribution")
    if groups is not None:
        yield "at most 1 group" if groups == 1 else f"at most {groups:,} groups"
    if rows is not None:
        yield f"at most {rows:,} {'row' if rows == 1 else 'rows'} in each group"


def request_of(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each part of a query that is not registered yet, its noise and levels among them."""
    lines = question(spec)
    for name in ("mechanism", "p", "levels", "share", "max_levels", "sensitivity"):
        part = spec.get(name)
        if part in (None, [], {}):
            continue
        words = _LEVELS.get(name, _plain)
        try:
            lines.append((_LABELS.get(name, name.capitalize()), words(part)))
        except (AttributeError, TypeError, ValueError):
            lines.append((_LABELS.get(name, name.capitalize()), _plain(part)))
    return lines


def source_of(source: Mapping[str, Any]) -> str:
    """Return where data are, in words."""
    engine, connection = source.get("engine"), source.get("connection")
    if "table" in source:
        return f"the view {source['table']}, read by {engine} under the connection {connection}"
    under = f", read under the connection {connection}" if connection else ""
    return f"the file {source.get('uri')}{under}"


def _levels(part: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join(f"{tier}: {_level(level)}" for tier, level in part.items())


def _level(level: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in level.items())


_LABELS = {"mechanism": "Noise", "p": "Power of the noise", "max_levels": "Levels (at most)"}
_LEVELS: Mapping[str, Callable[[Any], str]] = {
    "mechanism": lambda name: str(name).replace("_", " "),
    "levels": _levels,
    "share": lambda share: f"{percent(float(share))} of every tier's budget",
}
