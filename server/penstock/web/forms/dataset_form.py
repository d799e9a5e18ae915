"""Read the form that declares a dataset: where its data are, its columns, its budgets.

The form shows the names and types of the columns, which come from a file on the server's machine,
or are typed in for other data; the user enters everything else.  Fields carry the number of their
column, since a column's name may be any text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.connectors.planning.refusals import Refusals, checked, refusal, within
from penstock.connectors.specs.empty_fields import TO_ENTER
from penstock.connectors.specs.models import ColumnType, SourceSpec
from penstock.connectors.specs.sources import check_fields
from penstock.errors import InvalidInput
from penstock.web.forms.form_input import filled, number, scalar

TYPES: tuple[ColumnType, ...] = ("string", "integer", "number", "boolean", "date")
FILE, BUCKET, VIEW, PUSHED = "file", "bucket", "view", "vector"
PLACES = (
    (FILE, "A file on the server's machine"),
    (BUCKET, "Files in a bucket or on a web server"),
    (VIEW, "A view or table of a database"),
    (PUSHED, "No file: values are pushed"),
)
"""Where data may be, by the value of the field ``source``."""

FILES = "duckdb"
"""The engine that reads files, and that connections to buckets and web servers are for."""

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

_NO_ADDRESS = "Enter the address of the files, for example s3://bucket/visits/*.parquet."
_TYPED = re.compile(rf"(?P<name>.+?)[\s:,]+(?P<type>{'|'.join(TYPES)})", re.IGNORECASE)
_SUFFIX = re.compile(r"(\.[A-Za-z0-9]{1,8}){0,2}$")


def spec_of(
    given: Mapping[str, str],
    tiers: Iterable[str],
    uri: str = "",
    engines: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the spec that a form describes; its model reports what is wrong with it.

    ``uri`` is the file if the form has no field for it, and ``engines`` has those of connections.
    """
    source = {"engine": FILES, "uri": uri} if uri else source_of(given, engines or {})
    read = source["engine"] != PUSHED
    unit = given.get("unit", "")
    units = {"column": {"column": given.get("unit column", "")}, "rows": {"rows": 1}}
    epsilons = {tier: number(given.get(f"epsilon {tier}", "")) for tier in tiers}
    return {
        "name": given.get("name", "").strip(),
        "source": source,
        "neighboring": given.get("neighboring", ""),
        "delta": number(given.get("delta", "")),
        **filled(accountant=given.get("accountant") or None),
        "columns": _columns(given) if read else {},
        "budgets": {
            tier: {"epsilon": epsilon} for tier, epsilon in epsilons.items() if epsilon is not None
        },
        **({"privacy_unit": units.get(unit, unit)} if read else {}),
        **filled(
            max_units=number(given.get("max_units", "")),
            same_people_as=given.get("same_people_as", "").strip() or None,
        ),
    }


def source_of(given: Mapping[str, str], engines: Mapping[str, str]) -> dict[str, str]:
    """Return where a form says that the data are; ``engines`` has those of the connections."""
    kind, place = given.get("source", ""), given.get("uri", "").strip()
    connection = given.get("connection", "").strip()
    named = {"connection": connection} if connection else {}
    if kind == BUCKET:
        return {"engine": FILES, **named, "uri": place}
    if kind == VIEW:
        return {"engine": engines.get(connection, "postgresql"), **named, "table": place}
    return {"engine": FILES, "uri": place} if place else {"engine": PUSHED}


def connected_columns(
    given: Mapping[str, str], engines: Mapping[str, str]
) -> dict[str, ColumnType]:
    """Return the columns that are typed in, for data that are read under a connection.

    Raises ``InvalidInput`` for them, and for a place that cannot be one.
    """
    refusals, columns = Refusals(), dict[str, ColumnType]()
    source = source_of(given, engines)
    with refusals:
        if "connection" not in source:
            raise InvalidInput(TO_ENTER["connection"], pointer="/source/connection")
        if source["connection"] not in engines:
            raise InvalidInput(
                "There is no connection of this name any more; choose another, for example after"
                " the page is loaded again.",
                pointer="/source/connection",
            )
        if not source.get("uri", "-"):
            raise InvalidInput(_NO_ADDRESS, pointer="/source/uri")
        with within("source"):
            spec = checked(SourceSpec, source)
        wrong = list(check_fields(spec))
        if wrong:
            raise refusal(wrong)
    with refusals:
        columns = _listed(given.get("names", ""))
    refusals.raise_all()
    return columns


def _listed(text: str) -> dict[str, ColumnType]:
    """Return the columns of a list, one a line: a name, and then its type if it is no string."""
    columns: dict[str, ColumnType] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        typed = _TYPED.fullmatch(line)
        name, kind = (typed["name"], typed["type"].lower()) if typed else (line, "string")
        if name in columns:
            raise InvalidInput(
                "A column is listed twice; list each once, for example: person string.",
                pointer="/names",
            )
        columns[name] = next(known for known in TYPES if known == kind)
    if not columns:
        raise InvalidInput(
            "List the columns, one a line, each with its type, for example: person string.",
            pointer="/names",
        )
    return columns


def next_source(
    before: Mapping[str, str], place: str, connection: str | None = None
) -> dict[str, str]:
    """Return the source of new data: another file or view, read by the same engine.

    ``connection`` is the chosen one, empty for a file on the server's machine; ``None`` stands for
    that of the present data.
    """
    kept = {name: before[name] for name in ("engine", "connection") if name in before}
    if connection is not None:
        kept = {"engine": before.get("engine", FILES)}
        kept |= {"connection": connection} if connection else {}
    if "table" in before:
        return {**kept, "table": place}
    if connection is None and not ("connection" in before and "://" in place):
        return {"engine": FILES, "uri": place}
    return {**kept, "uri": place}


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
