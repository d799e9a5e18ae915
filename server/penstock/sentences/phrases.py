"""Write the parts of a spec as phrases: statistics, groups, conditions, derived columns."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from penstock.sentences.words import bounded, value, word

_COUNTED = {
    "count": "number of rows",
    "count_units": "number of privacy units",
}
_COLUMNS = {
    "count": "number of rows in which each of these is true",
    "count_units": "number of privacy units with a row in which each of these is true",
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
_LONGEST_WHOLE = 1e15  # above it a number stands as Python writes it
_NUMBER = re.compile(r"n|sum:\w+(,\w+)*", re.ASCII)
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


def aggregate(part: Mapping[str, Any]) -> str:
    """Return what is released of each group."""
    kind = part["type"]
    if kind in _COUNTED:
        columns = part.get("columns")
        return f"{_COLUMNS[kind]}: {_names(columns)}" if columns else _COUNTED[kind]
    column = word(part["column"]) if "column" in part else ""
    if kind == "histogram":
        return f"number of rows in each bin of {column}: {_bins(part['bins'])}"
    if kind == "uncategorized":
        return f"share of rows in no declared category of {column}"
    if kind == "moments" and part.get("order") == 1:
        return f"number of rows, sums and means of {_names(part['columns'])}{_on_a_grid(part)}"
    if kind == "moments":
        return f"means, variances and correlations of {_names(part['columns'])}{_on_a_grid(part)}"
    if kind == "regression":
        predictors = _names(part["predictors"])
        return f"regression of {word(part['outcome'])} on {predictors}{_on_a_grid(part)}"
    if kind == "quantiles":
        return _quantiles(part)
    if kind == "marginals":
        return f"marginals of {_sets(part)}: {groups(part['columns'])}"
    if kind == "workload":
        return f"answers over {groups(part['columns'])}: {_matrices(part)}"
    what = {"sum": "sum", "mean": "mean"}[kind]
    return f"{what} of {column}{_bounds(part)}"


def _names(columns: Sequence[str]) -> str:
    return ", ".join(map(word, columns))


def _quantiles(part: Mapping[str, Any]) -> str:
    probabilities = ", ".join(map(value, part["probabilities"]))
    name = f"quantiles of {word(part['column'])} at {probabilities}"
    whole = {None: "", True: ", of whole numbers", False: ", of any numbers"}[part.get("whole")]
    if part.get("scale") == "log":
        return f"{name}{_bounds(part)}, from bins between powers of two{whole}"
    bins = f", from {part['bins']} bins" if part.get("bins") else ""
    return f"{name}{_bounds(part)}{bins}{whole}"


def _on_a_grid(part: Mapping[str, Any]) -> str:
    """Return what moments and regressions cut, round and weigh, where a spec says it itself."""
    words = [
        f", with {word(column)} cut to {value(lower)} to {value(upper)}"
        for column, (lower, upper) in (part.get("bounds") or {}).items()
    ]
    if part.get("grid"):
        words.append(f", on a grid of {part['grid']} steps")
    weights = part.get("weights")
    if isinstance(weights, Mapping):
        each = ", ".join(f"{_number(name)} {weight}" for name, weight in weights.items())
        words.append(_weights(each, len(weights)))
    elif weights:
        words.append(f", with {weights} weights")
    return "".join(words)


def _weights(each: str, count: int) -> str:
    if count > _MOST_WEIGHTS:
        return f", with a weight for each of {count} numbers ({bounded(each)})"
    return f", with weights {each}"


def _number(name: str) -> str:
    """Return the name of a number of moments, ``n`` or ``sum:x,y``, bare if it is plain."""
    return name if _NUMBER.fullmatch(name) else word(name)


def _sets(part: Mapping[str, Any]) -> str:
    if part.get("sets"):
        return ", ".join(" and ".join(map(word, names)) for names in part["sets"])
    return f"all sets of at most {part.get('up_to') or 2} columns"


def _matrices(part: Mapping[str, Any]) -> str:
    """Return the queries and the strategy of a workload, column by column."""
    queries, protected = (
        _rows(part.get(name, "identity"), part["columns"]) for name in ("queries", "strategy")
    )
    return f"{queries}; protected are {protected}"


def _rows(rows: str | Sequence[Any], columns: Sequence[Any]) -> str:
    each = [rows] * len(columns) if isinstance(rows, str) else rows
    if len(each) > 1 and all(own == each[0] for own in each):
        return _own_rows(each[0], "each column")
    names = [word(column["column"]) for column in columns]
    return ", ".join(map(_own_rows, each, names))


def _own_rows(rows: str | Sequence[Sequence[int]], column: str) -> str:
    if isinstance(rows, str):
        return f"{_ROWS[rows]} of {column}"
    numbers = bounded("/".join(" ".join(map(str, row)) for row in rows))
    return f"{len(rows)} {'row' if len(rows) == 1 else 'rows'} of integers of {column} ({numbers})"


def _bounds(part: Mapping[str, Any]) -> str:
    lower, upper, step = part.get("lower"), part.get("upper"), part.get("step")
    bounds = ""
    if lower is not None and upper is not None:
        bounds = f", values cut to {_bound(lower)} to {_bound(upper)}"
    elif lower is not None or upper is not None:
        cut = f"at least {_bound(lower)}" if upper is None else f"at most {_bound(upper)}"
        bounds = f", values cut to {cut}"
    return bounds + (f", rounded to steps of {_bound(step)}" if step is not None else "")


def _bound(number: object) -> str:
    """Return a number as people write it: 2000 rather than 2000.0, which is the same number."""
    whole = isinstance(number, float) and number.is_integer() and abs(number) < _LONGEST_WHOLE
    return f"{number:.0f}" if whole else f"{number}"


def _bins(edges: Sequence[Any]) -> str:
    """Return bins in words; if they are all equally wide and more than three, by their number."""
    widths = {high - low for low, high in pairwise(edges)}
    if len(edges) > 4 and len(widths) == 1 and all(isinstance(edge, int) for edge in edges):
        return f"{len(edges) - 1} bins of {widths.pop()} from {edges[0]} to {edges[-1]}"
    return bounded(f"bins from {', '.join(map(str, edges[:-1]))}, the last to {edges[-1]}")


def groups(part: Sequence[Mapping[str, Any]]) -> str:
    """Return what rows are grouped by."""
    return " and ".join(
        f"{word(group['column'])} ({_bins(group['bins'])})"
        if group.get("bins")
        else word(group["column"])
        for group in part
    )


def conditions(part: Sequence[Mapping[str, Any]]) -> str:
    """Return the conditions on rows, all of which hold."""
    return bounded(" and ".join(map(_condition, part)))


def _condition(part: Mapping[str, Any]) -> str:
    """Return a condition in words; several that are joined stand in parentheses."""
    if "not" in part:
        inner = _condition(part["not"])
        return f"not {inner}" if inner.startswith("(") else f"not ({inner})"
    for joining, between in _JOINING.items():
        if joining in part:
            return f"({between.join(map(_condition, part[joining]))})"
    comparison = f"{word(part['column'])} {_OPERATORS[part['op']]}"
    return f"{comparison} {_value(part['value'])}" if "value" in part else comparison


def derived(part: Mapping[str, Any]) -> str:
    """Return what each derived column is."""
    return bounded("; ".join(f"{word(name)} is {_expression(own)}" for name, own in part.items()))


def _expression(part: Any) -> str:
    """Return what a derived column is computed from, in words."""
    if not isinstance(part, Mapping):
        return json.dumps(part, ensure_ascii=False)
    if "column" in part:
        return word(part["column"])
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


def _value(compared: object) -> str:
    if isinstance(compared, list | tuple):
        return ", ".join(map(value, compared))
    return value(compared)


def domain(part: Mapping[str, Any]) -> str:
    """Return the possible keys of a sparse histogram."""
    kind, size = part["type"], part.get("size")
    if kind == "uint64":
        return "integers of 64 bits" if size is None else f"integers from 0 to {size - 1:,}"
    if kind == "string":
        return f"texts of {part['length']} characters from {word(part['alphabet'])}"
    return {"sha256_64": "texts of any length, by the first 64 bits of their SHA-256"}[kind]


def shares(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield how much one privacy unit contributes at most.  Raises ``KeyError`` for no bound."""
    most_groups, rows = part.get("max_groups"), part.get("max_rows_per_group")
    if most_groups is None and rows is None:
        raise KeyError("contribution")
    if most_groups is not None:
        yield "at most 1 group" if most_groups == 1 else f"at most {most_groups:,} groups"
    if rows is not None:
        yield f"at most {rows:,} {'row' if rows == 1 else 'rows'} in each group"
