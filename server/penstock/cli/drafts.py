"""Run ``penstock dataset example`` and ``penstock query example``: write files to start from."""

import csv
from typing import TYPE_CHECKING, Any

import click

from penstock import examples
from penstock.cli.operator import Operator
from penstock.cli.options import TierBudget, option

if TYPE_CHECKING:
    from penstock.connectors.specs.models import ColumnType

TYPES = ("string", "integer", "number", "boolean", "date")


def whole(title: str, text: str) -> str:
    """Return a file's text for the end of a help page, with its lines unchanged."""
    lines = "\n".join(f"  {line}" if line else "" for line in text.rstrip("\n").splitlines())
    return f"{title}\n\n\b\n{lines}"


class OfColumn(click.ParamType[tuple[str, str]]):
    """Convert a column and its declaration, given as ``COLUMN=...``."""

    name = "column"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        column, separator, declared = str(value).partition("=")
        if not separator or not column or not declared:
            self.fail(f"{value!r} is not COLUMN=...", param, ctx)
        return column, declared


@click.command("example")
@click.argument("file", required=False)
@option("--name", help="Name of the dataset [default: that of FILE].")
@option("--privacy-unit", metavar="COLUMN", help="Column that names the person behind each row.")
@option(
    "--type",
    "types",
    type=OfColumn(),
    multiple=True,
    metavar="COLUMN=TYPE",
    help="Type of a column: string, integer, number, boolean or date.",
)
@option(
    "--categories",
    type=OfColumn(),
    multiple=True,
    metavar="COLUMN=A,B,...",
    help="Categories of a column to group by; put one with a comma in double quotes.",
)
@option(
    "--bounds",
    type=OfColumn(),
    multiple=True,
    metavar="COLUMN=LOWER:UPPER[:STEP]",
    help="Bounds of a column to sum, and the step that it is rounded to.",
)
@option(
    "--budget",
    "budgets",
    type=TierBudget(),
    multiple=True,
    metavar="TIER=EPSILON",
    help="Budget of a tier.",
)
@click.pass_obj
def dataset_example(
    operator: Operator,
    file: str | None,
    name: str | None,
    privacy_unit: str | None,
    types: tuple[tuple[str, str], ...],
    categories: tuple[tuple[str, str], ...],
    bounds: tuple[tuple[str, str], ...],
    budgets: tuple[tuple[str, float], ...],
) -> None:
    """Write a draft of a dataset's file for a data FILE.

    FILE is CSV or Parquet.  The draft uses the header of FILE and what the options declare, never a
    cell; what remains to be declared is in comments.  Without FILE, a complete example is written.
    """
    if file is None:
        click.echo(examples.DATASET, nl=False)
        operator.say(
            "This is a complete example. Name a CSV or Parquet file to get a draft for it."
        )
        return
    from pathlib import Path

    from penstock.connectors.specs.draft import Declared, drafted

    declared = Declared(
        privacy_unit,
        {column: _type(kind) for column, kind in types},
        {column: _listed(column, parts) for column, parts in categories},
        {column: _numbers(column, parts) for column, parts in bounds},
        dict(budgets),
    )
    path = Path(file)
    click.echo(drafted(path, name or path.stem, declared), nl=False)
    operator.say("Complete the draft, then run: penstock dataset register FILE")


@click.command("example")
@click.pass_obj
def query_example(operator: Operator) -> None:
    """Write a complete query file.

    It is for the dataset that `penstock dataset example` writes.
    """
    click.echo(examples.QUERY, nl=False)
    operator.say("Adapt it to your dataset, then run: penstock query preview FILE")


def _type(kind: str) -> "ColumnType":
    for known in TYPES:
        if kind == known:
            return known  # type: ignore[return-value]  # the names of TYPES are those of ColumnType
    raise click.BadParameter(f"{kind!r} is not one of {', '.join(TYPES)}.", param_hint="--type")


def _listed(column: str, parts: str) -> tuple[str, ...]:
    # Read as a line of CSV, so that a category may contain a comma.
    reader = csv.reader([parts], skipinitialspace=True, strict=True)
    try:
        names = tuple(part.strip() for part in next(reader))
    except csv.Error:
        names = ("",)
    if not all(names):
        raise click.BadParameter(
            f"{column}={parts} is not COLUMN=A,B,...:"
            " a category is empty, or a quote is not closed.",
            param_hint="--categories",
        )
    return names


def _numbers(column: str, parts: str) -> tuple[str, ...]:
    numbers = tuple(part.strip() for part in parts.split(":"))
    try:
        finite = all(abs(float(number)) < float("inf") for number in numbers)
    except ValueError:
        finite = False
    if not finite or len(numbers) not in {2, 3}:
        raise click.BadParameter(
            f"{column}={parts} is not COLUMN=LOWER:UPPER or COLUMN=LOWER:UPPER:STEP.",
            param_hint="--bounds",
        )
    if float(numbers[0]) > float(numbers[1]):
        raise click.BadParameter(
            f"{column}={parts} has a lower bound above the upper one.", param_hint="--bounds"
        )
    return tuple(_written(float(number)) for number in numbers)


def _written(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)
