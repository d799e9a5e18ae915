"""Convert metadata of SmartNoise SQL and lomas to the data half of a dataset.

SmartNoise nests ``database: schema: table:``, a table's options standing beside its columns; lomas
has one table, its columns under ``columns``.  Settings without a counterpart are named in a note,
so that nothing is lost silently; settings that would silently weaken the protection are refused.

==============================  ==========================================================
there                           here
==============================  ==========================================================
``type`` int, float, string,    integer, number, string, boolean, date; a column of an
boolean, datetime               unknown type is left out
``lower``, ``upper``            the same, on numbers
``categories``                  the same, on strings and integers
``missing_value``               ``missing``
``private_id``                  the privacy unit
``row_privacy``                 every row is a privacy unit, unless a ``private_id`` says
                                more
``max_ids``                     a note: how many rows may count is said by each query
==============================  ==========================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.errors import InvalidInput

TYPES = {
    "int": "integer",
    "float": "number",
    "string": "string",
    "boolean": "boolean",
    "datetime": "date",
}
NUMBERS = frozenset({"integer", "number"})

# What the server derives, enforces on every query, or has no use for.
_NEEDLESS_OF_TABLES = {
    "rows": "the number of rows is not needed",
    "rows_exact": "the number of rows is not needed",
    "sample_max_ids": "contributions are always bounded",
    "clamp_columns": "values are always clamped",
    "clamp_counts": "released counts are unbiased, and may be negative",
    "censor_dims": "keys are always declared, never discovered",
    "use_dpsu": "keys are always declared, never discovered",
}
_NEEDLESS_OF_COLUMNS = {
    "name": None,
    "precision": None,
    "cardinality": None,
    "nullable": None,
    "nullable_proportion": None,
    "max_partition_length": None,
    "max_influenced_partitions": "each query says its max_groups",
    "max_partition_contributions": "each query says its max_rows_per_group",
    "sensitivity": "the server derives sensitivities",
}
_MAPPED = frozenset({"type", "lower", "upper", "categories", "missing_value", "private_id"})
_QUOTES = (('"', '"'), ("`", "`"), ("[", "]"))


@dataclass(frozen=True)
class Imported:
    """Hold a table's name (empty in lomas), the fields of a dataset's spec, and notes."""

    table: str
    fields: dict[str, Any]
    notes: tuple[str, ...]


def read_metadata(document: object, table: str | None = None) -> Imported:
    """Read one table; ``table``, as ``Schema.Table`` or ``Table``, if there are several.

    Raises ``InvalidInput``, which names a table or a column, for what is not valid.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("The metadata must be a mapping: a table, or databases of tables.")
    if isinstance(document.get("columns"), Mapping):
        options = {name: value for name, value in document.items() if name != "columns"}
        return _imported("", options, document["columns"])
    tables = _tables(document)
    chosen = _chosen(tables, table)
    content = tables[chosen]
    columns = {name: part for name, part in content.items() if isinstance(part, Mapping)}
    options = {name: part for name, part in content.items() if name not in columns}
    return _imported(chosen.rpartition(".")[2], options, columns)


def _tables(document: Mapping[Any, Any]) -> dict[str, Mapping[Any, Any]]:
    tables = {}
    for schemas in document.values():
        for schema, inner in schemas.items() if isinstance(schemas, Mapping) else ():
            for name, content in inner.items() if isinstance(inner, Mapping) else ():
                if isinstance(content, Mapping):
                    tables[f"{schema}.{_unquoted(name)}"] = content
    if not tables:
        raise InvalidInput(
            "No table was found: SmartNoise's metadata nest database, schema and table, those"
            " of lomas have columns."
        )
    return tables


def _chosen(tables: Mapping[str, Any], table_name: str | None) -> str:
    named = [name for name in tables if table_name in (None, name, name.rpartition(".")[2])]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(sorted(tables)[:20])
    if table_name is None:
        raise InvalidInput(f"There are {len(tables)} tables; name one of them: {listed}.")
    what = "several tables" if named else "no table"
    raise InvalidInput(f"There is {what} with the name {table_name!r}; there are {listed}.")


def _imported(table: str, options: Mapping[Any, Any], described: Mapping[Any, Any]) -> Imported:
    notes = [
        f"{name} is left out: {reason}."
        for name, reason in _NEEDLESS_OF_TABLES.items()
        if name in options
    ]
    known = {*_NEEDLESS_OF_TABLES, "max_ids", "row_privacy"}
    notes += [f"{name} is left out: it is not known here." for name in options if name not in known]
    columns: dict[str, dict[str, Any]] = {}
    private = []
    for given, attributes in described.items():
        name = _unquoted(given)
        if not isinstance(attributes, Mapping):
            raise InvalidInput(f"Column {name!r} must be a mapping with a type.")
        if _flag(attributes, "private_id", f"column {name!r}"):
            private.append(name)
        column = _column(name, attributes, notes)
        if column is not None:
            columns[name] = column
    unit = _unit(options, private, columns, notes)
    return Imported(table, {"privacy_unit": unit, "columns": columns}, tuple(notes))


def _column(name: str, attributes: Mapping[Any, Any], notes: list[str]) -> dict[str, Any] | None:
    kind = TYPES.get(str(attributes.get("type")))
    if attributes.get("type") == "unknown":
        notes.append(f"Column {name!r} is left out: its type is unknown.")
        return None
    if kind is None:
        raise InvalidInput(
            f"Column {name!r} has no type that is known here; known are {', '.join(TYPES)}."
        )
    column: dict[str, Any] = {"type": kind}
    for side in ("lower", "upper"):
        if attributes.get(side) is None:
            continue
        if kind in NUMBERS:
            column[side] = attributes[side]
        else:
            notes.append(f"{side} of column {name!r} is left out: only numbers have bounds here.")
    if attributes.get("categories") is not None:
        column |= _categories(name, kind, attributes["categories"], notes)
    if attributes.get("missing_value") is not None:
        column["missing"] = attributes["missing_value"]
    if kind == "number" and not _flag(attributes, "private_id", f"column {name!r}"):
        notes.append(
            f"Column {name!r} has no step: say to which multiple its values are rounded before"
            " they are added, here or in each query."
        )
    if attributes.get("type") == "datetime":
        notes.append(f"Column {name!r} is read as a date, without the time of day.")
    for other, reason in _NEEDLESS_OF_COLUMNS.items():
        if other in attributes and reason is not None:
            notes.append(f"{other} of column {name!r} is left out: {reason}.")
    known = _MAPPED | _NEEDLESS_OF_COLUMNS.keys()
    notes += [
        f"{other} of column {name!r} is left out: it is not known here."
        for other in attributes
        if other not in known
    ]
    return column


def _categories(name: str, kind: str, given: object, notes: list[str]) -> dict[str, Any]:
    if not isinstance(given, list) or not given:
        raise InvalidInput(f"The categories of column {name!r} must be a list.")
    if kind not in {"string", "integer"}:
        notes.append(f"The categories of column {name!r} are left out: a {kind} has none here.")
        return {}
    category_type = str if kind == "string" else int
    for place, category in enumerate(given):
        if type(category) is not category_type:
            raise InvalidInput(
                f"YAML does not read category {place + 1} of column {name!r} as type {kind}; put"
                " quotation marks around texts such as NO or 01, and none around numbers."
            )
    return {"categories": list(given)}


def _unit(
    options: Mapping[Any, Any],
    private: list[str],
    columns: Mapping[str, Any],
    notes: list[str],
) -> dict[str, Any]:
    most = options.get("max_ids", 1)
    if type(most) is not int or most < 1:
        raise InvalidInput("max_ids must be a whole number from 1.")
    rows = _flag(options, "row_privacy", "the table")
    if len(private) > 1:
        raise InvalidInput(
            f"{len(private)} columns have private_id; a privacy unit is named by one column"
            " here. Join them into one in the file."
        )
    if private:
        if private[0] not in columns:
            raise InvalidInput(f"Column {private[0]!r} has private_id, and no type.")
        if rows:
            notes.append(
                f"row_privacy is left out: column {private[0]!r} names the privacy unit, which"
                " protects more."
            )
        notes.append(
            f"max_ids is {most}: give queries a contribution of which max_groups times"
            f" max_rows_per_group is {most}."
        )
        return {"column": private[0]}
    if not rows:
        raise InvalidInput(
            "No column has private_id, and the table has no row_privacy, so nothing says who is"
            " protected. Set one of them."
        )
    if most > 1:
        raise InvalidInput(
            f"row_privacy and max_ids {most} contradict each other: with every row a privacy"
            " unit, nobody has more than one. Give the column of the unit private_id."
        )
    return {"rows": 1}


def _flag(part: Mapping[Any, Any], name: str, where: str) -> bool:
    value = part.get(name, False)
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} of {where} must be true or false.")
    return value


def _unquoted(name: object) -> str:
    text = str(name)
    for opening, closing in _QUOTES:
        if len(text) > 2 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1]
    return text
