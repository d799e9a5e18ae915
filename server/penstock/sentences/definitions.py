"""Return the sentence that defines a query, a stream or a dataset.

Each is a function of the stored spec and of the privacy unit alone.  Two specs of a kind in a
dataset have one sentence only if they say the same.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.sentences import phrases
from penstock.sentences.words import bounded, noun_of_column, noun_of_unit, plural, value, word

Unit = Mapping[str, Any] | str | None

_NEIGHBORS = {"add_remove": "added or removed", "replace": "replaced by another"}


def of_query(spec: Mapping[str, Any], unit: Unit) -> str:
    """Return the sentence of a query: a computed one, or a vector that was sent."""
    if "aggregate" not in spec:
        return _vector(spec, noun_of_unit(unit))
    clauses = [_statistic(spec, unit), *_protection(spec), *_contribution(spec, unit)]
    return "; ".join(clauses)


def of_stream(spec: Mapping[str, Any], structure: Mapping[str, Any], unit: Unit) -> str:
    """Return the sentence of a stream, whose sums are kept by ``structure``."""
    length, dimension = spec.get("length"), spec.get("dimension", 1)
    most = spec.get("max_steps_per_unit") or 1
    elements = "numbers" if dimension == 1 else f"rows of {dimension:,} numbers"
    many = f"at most {length:,} {elements}" if length else f"{elements} without an end"
    noun = noun_of_unit(unit)
    reached = "is in at most 1 of them" if most == 1 else f"is in at most {most:,} of them"
    return (
        f"Running totals of a stream of {many}{_grid(spec)}, kept by {phrases.kept(structure)};"
        f" each {noun} {reached} and changes each by at most {_norms(spec)}"
    )


def of_dataset(spec: Mapping[str, Any]) -> str:
    """Return the sentence of a dataset: what it declares, and what is protected."""
    unit, columns = spec.get("privacy_unit"), len(spec.get("columns") or ())
    engine = spec["source"]["engine"]
    what = f"{columns:,} declared {'column' if columns == 1 else 'columns'} read by {engine}"
    if engine == "vector":
        what = "Vectors that are sent"
    column = ""
    if isinstance(unit, Mapping) and "column" in unit:
        column = f" (column {word(str(unit['column']))})"
    relation = _NEIGHBORS[spec["neighboring"]]
    return f"{what}; hides whether any one {noun_of_unit(unit)}{column} was {relation}"


def _statistic(spec: Mapping[str, Any], unit: Unit) -> str:
    part, groups = spec["aggregate"], list(spec.get("group_by") or ())
    kind = part["type"]
    name = phrases.aggregate(part)
    if kind == "count_units":
        name = name.replace("privacy units", plural(noun_of_unit(unit)), 1)
    elif kind == "histogram":
        groups.append({"column": part["column"], "bins": part["bins"]})
        name = "number of rows"
    words = f"{name[0].upper()}{bounded(name[1:])}"
    if groups:
        between = ", by" if "," in words else " by"
        words += f"{between} {bounded(phrases.groups(groups))}"
    if spec.get("domain"):
        words += f" ({phrases.domain(spec['domain'])}), of keys that stand out alone"
    if spec.get("where"):
        words += f" where {phrases.conditions(spec['where'])}"
    if spec.get("derived"):
        words += f"; with {phrases.derived(spec['derived'])}"
    return words


def _protection(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield how counts are protected together, if they are."""
    if spec.get("structure") != "correlated":
        return
    words = "the counts are protected together"
    if spec.get("known_size") is not None:
        words += f", whose total is known to be {spec['known_size']:,}"
    if spec.get("trade_off") is not None:
        words += f", with the trade-off {_trade_off(spec['trade_off'])}"
    if spec.get("release_size") is not None:
        words += ", with their size" if spec["release_size"] else ", without their size"
    yield words


def _trade_off(stored: float) -> str:
    """Return a trade-off to four decimals: planned ones are multiples of 2**-12, so they differ."""
    return f"{stored:.4f}".rstrip("0").rstrip(".")


def _contribution(spec: Mapping[str, Any], unit: Unit) -> Iterator[str]:
    part = spec.get("contribution") or {}
    groups, rows = part.get("max_groups"), part.get("max_rows_per_group")
    noun, counted = noun_of_unit(unit), []
    if groups is not None:
        counted.append(f"in at most {groups:,} {_group(spec, groups)}")
    if rows is not None:
        each = " in each" if groups is not None else ""
        counted.append(f"with at most {rows:,} {'row' if rows == 1 else 'rows'}{each}")
    if counted:
        yield f"each {noun} counts {', '.join(counted)}"
    elif noun in ("row", "event"):
        yield f"each {noun} is protected by itself"


def _group(spec: Mapping[str, Any], count: int) -> str:
    """Return what a group is called: by its column if there is one without bins."""
    groups, kind = list(spec.get("group_by") or ()), spec["aggregate"]["type"]
    noun = None
    if len(groups) == 1 and not groups[0].get("bins") and kind != "histogram":
        noun = noun_of_column(groups[0]["column"])
    noun = noun or ("cell" if kind in ("marginals", "workload") else "group")
    return noun if count == 1 else plural(noun)


def _vector(spec: Mapping[str, Any], noun: str) -> str:
    keys = spec.get("keys")
    named = ""
    if keys:
        many = f"{len(keys):,} " if len(keys) > 1 else ""
        named = f" for {many}{'key' if len(keys) == 1 else 'keys'} ({bounded(_listed(keys))})"
    most = f"each {noun} changes them by at most {_norms(spec)}"
    return f"Values that were sent{named}{_grid(spec)}; {most}"


def _listed(keys: Any) -> str:
    return ", ".join(map(word, keys))


def _grid(spec: Mapping[str, Any]) -> str:
    step, bound = value(spec.get("step", 1)), value(spec.get("bound", 2**31))
    return f", in steps of {step} from -{bound} to {bound}"


def _norms(spec: Mapping[str, Any]) -> str:
    """Return the sensitivity that was asserted."""
    norms = spec.get("sensitivity") or {"l1": 1}
    labels = {"l1": "in all", "l2": "in Euclidean length", "linf": "in one number"}
    parts = [
        f"{value(norms[name])} {labels[name]}" for name in labels if norms.get(name) is not None
    ]
    return " and ".join(parts)
