"""Check that the parts of a dataset's spec agree with each other; no file is opened."""

from collections.abc import Iterator
from fractions import Fraction

from penstock.connectors.planning.refusals import pointer, refusal
from penstock.connectors.specs.cells import EXAMPLES, NUMERIC, cell
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec, UnitColumn
from penstock.connectors.specs.sources import VECTORS, check_fields

Place = tuple[str, str]

FINEST = Fraction(1, 2**60)

STEPS = "A step is a power of two, 2^-60 or above, or a whole number above 0."


def check_schema(dataset: DatasetSpec) -> None:
    """Raise ``InvalidInput``, naming every place, unless the spec is consistent."""
    places = list(check_fields(dataset.source))
    vector = dataset.source.engine == VECTORS
    places += _of_vectors(dataset) if vector else _of_records(dataset)
    for name, column in dataset.columns.items():
        places += _of_a_column(name, column)
    if places:
        raise refusal(places)


def step_of(value: int | float) -> Fraction | None:
    """Return a step as a fraction; None unless it is a power of two or a whole number above 0.

    Powers below 2^-60 are none either, so that counts of steps stay 64-bit integers.
    """
    step = Fraction(value)
    if step < FINEST:
        return None
    power_of_two = step.numerator == 1 and step.denominator & (step.denominator - 1) == 0
    return step if step.denominator == 1 or power_of_two else None


def _of_vectors(dataset: DatasetSpec) -> Iterator[Place]:
    if dataset.columns:
        yield pointer("columns"), "Vectors are pushed and have no columns; leave this out."


def _of_records(dataset: DatasetSpec) -> Iterator[Place]:
    if not dataset.columns:
        yield pointer("columns"), "Declare the columns that queries will use."
    if len({name.casefold() for name in dataset.columns}) < len(dataset.columns):
        yield pointer("columns"), "Two columns differ only in upper and lower case."
    unit = dataset.privacy_unit
    if unit is None:
        yield (
            pointer("privacy_unit"),
            'State whose records these are: {"column": NAME}, or {"rows": 1}.',
        )
    elif unit == "event":
        yield pointer("privacy_unit"), "event is for streams; name a column, or rows."
    elif isinstance(unit, UnitColumn):
        yield from _of_the_unit(unit.column, dataset.columns.get(unit.column))


def _of_the_unit(name: str, column: ColumnSpec | None) -> Iterator[Place]:
    if column is None:
        yield pointer("privacy_unit", "column"), "This column is not declared under columns."
        return
    if column.type not in {"string", "integer"}:
        yield (
            pointer("columns", name, "type"),
            "The privacy unit's column is of type string or integer.",
        )
    if column.missing is not None:
        yield (
            pointer("columns", name, "missing"),
            "A row without a privacy unit is dropped; nothing can stand in for it.",
        )


def _of_a_column(name: str, column: ColumnSpec) -> Iterator[Place]:
    at = ("columns", name)
    expected = f"must be {EXAMPLES[column.type]}, as the column's type says."
    if column.missing is not None and cell(column.type, column.missing) is None:
        yield pointer(*at, "missing"), f"This {expected}"
    if column.categories is not None:
        yield from _of_categories(at, column, column.categories)
    if column.type not in NUMERIC:
        for field in ("lower", "upper", "step"):
            if getattr(column, field) is not None:
                yield pointer(*at, field), "Only integer and number columns have this."
        return
    if column.lower is not None and column.upper is not None and column.lower > column.upper:
        yield (
            pointer(*at, "upper"),
            f"The bounds are reversed: lower is {column.lower:g}, upper {column.upper:g}.",
        )
    if column.step is not None and step_of(column.step) is None:
        yield pointer(*at, "step"), STEPS


def _of_categories(
    at: tuple[str, str], column: ColumnSpec, categories: tuple[object, ...]
) -> Iterator[Place]:
    if column.type in {"number", "boolean"}:
        advice = "group it by bins" if column.type == "number" else "it has false and true already"
        yield pointer(*at, "categories"), f"A {column.type} column has no categories; {advice}."
        return
    cells = [cell(column.type, entry) for entry in categories]
    if None in cells:
        yield (
            pointer(*at, "categories", cells.index(None)),
            f"This must be {EXAMPLES[column.type]}, as the column's type says.",
        )
    elif len(set(cells)) < len(cells):
        yield pointer(*at, "categories"), "Every category occurs once."
