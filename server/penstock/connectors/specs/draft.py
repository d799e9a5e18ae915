"""Write the start of a dataset's file, from the header of its data and what was declared.

No cell is read: a draft has each column's name, the type that a Parquet file declares, and what the
caller declares.  Fields that are still open are comments.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.connectors.planning.refusals import pointer, refusal
from penstock.connectors.specs.cells import EXAMPLES
from penstock.connectors.specs.guess import guess_schema
from penstock.connectors.specs.models import ColumnType

_INTEGER = re.compile("-?[0-9]{1,18}")


@dataclass(frozen=True)
class Declared:
    """Hold a user's declarations about a file, by column or tier.

    ``bounds`` hold lower, upper and step as they are written; a step may be left out.
    """

    privacy_unit: str | None = None
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    budgets: Mapping[str, float] = field(default_factory=dict)


def drafted(path: Path, name: str, declared: Declared) -> str:
    """Return TOML that declares ``path`` as the dataset ``name``.

    Raises ``InvalidInput`` for a file that is neither CSV nor Parquet, for declared columns that
    its header does not have, and for categories that are not of their type.
    """
    header = guess_schema(path)
    types = {**header, **_implied(declared)}
    _require_known(header, declared)
    _require_read(types, declared)
    return "\n".join(
        (
            "# A first draft, of the file's header and of what was declared; no cell was read.",
            "# Lines behind a # are choices that are still open: take the # away, complete them.",
            f"name = {_text(name)}",
            'neighboring = "add_remove"  # of one privacy unit; or replace',
            "delta = 1e-6  # far below one in the number of people",
            "max_units = 1000000  # more privacy units than there will ever be",
            "",
            "[source]",
            'engine = "duckdb"',
            f"uri = {_text(str(path))}",
            "",
            "[privacy_unit]  # whose record a row is",
            *_unit(declared.privacy_unit),
            *(line for column, kind in types.items() for line in _column(column, kind, declared)),
            "",
            "[budgets]  # the epsilon of each tier, as `penstock tier list` names them",
            *(f"{_text(tier)} = {epsilon:g}" for tier, epsilon in declared.budgets.items()),
            *(() if declared.budgets else ("# public = 1",)),
            "",
        )
    )


def _implied(declared: Declared) -> dict[str, ColumnType]:
    """Return the types that are declared; a column that has bounds is of numbers."""
    types: dict[str, ColumnType] = {
        name: "integer" if all(map(_is_whole, numbers)) else "number"
        for name, numbers in declared.bounds.items()
    }
    return {**types, **declared.types}


def _is_whole(number: str) -> bool:
    return float(number).is_integer()


def _require_known(header: Mapping[str, object], declared: Declared) -> None:
    named = (
        *(() if declared.privacy_unit is None else (declared.privacy_unit,)),
        *declared.types,
        *declared.categories,
        *declared.bounds,
    )
    unknown = [name for name in dict.fromkeys(named) if name not in header]
    if unknown:
        known = ", ".join(list(header)[:20])
        raise refusal(
            [
                (pointer("columns", name), f"The file has no such column; it has {known}.")
                for name in unknown
            ]
        )


def _require_read(types: Mapping[str, ColumnType], declared: Declared) -> None:
    wrong = [
        (pointer("columns", name, "categories"), f"{EXAMPLES['integer'].capitalize()} is wanted.")
        for name, cells in declared.categories.items()
        if types[name] == "integer" and not all(map(_INTEGER.fullmatch, cells))
    ]
    if wrong:
        raise refusal(wrong)


def _unit(column: str | None) -> tuple[str, ...]:
    if column is None:
        return (
            '# column = "person"  # the column that names them',
            "# rows = 1  # every row by itself",
        )
    return (f"column = {_text(column)}",)


def _column(name: str, kind: ColumnType, declared: Declared) -> Iterator[str]:
    yield ""
    yield f"[columns.{_text(name)}]"
    is_declared = name in declared.types or name in declared.bounds
    yield f'type = "{kind}"' + ("" if is_declared else "  # or integer, number, boolean, date")
    if name == declared.privacy_unit:
        return
    if name in declared.categories:
        cells = (cell if kind == "integer" else _text(cell) for cell in declared.categories[name])
        yield f"categories = [{', '.join(cells)}]"
    elif kind in {"string", "integer", "date"}:
        yield "# categories = []  # to group by it: all of its keys, also those that nobody has"
    bounds = declared.bounds.get(name, ())
    yield from (
        f"{part} = {number}"
        for part, number in zip(("lower", "upper", "step"), bounds, strict=False)
    )
    if kind in {"integer", "number"} and not bounds:
        yield "# lower = 0  # to add it up: cells beyond the bounds are moved to them"
        yield "# upper = 0"
    if kind == "number" and len(bounds) < 3:
        yield "# step = 1  # what it is rounded to: a power of two, or a whole number"


def _text(text: str) -> str:
    # A JSON string is a valid basic string of TOML.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
