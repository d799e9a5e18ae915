"""Run ``penstock dataset import``: turn metadata of SmartNoise SQL or lomas into a dataset."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.data.documents import shown
from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.specs import STANDARD_INPUT, bytes_of, checked
from penstock.errors import InvalidInput, MalformedInput
from penstock.nesting import DEEPEST, yaml_depth

if TYPE_CHECKING:
    from penstock.services.schemas.queries import DatasetRequest


class Assigned(click.ParamType[tuple[str, float]]):
    """Convert a name and a number above zero, given as NAME=NUMBER."""

    name = "NAME=NUMBER"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, equals, number = str(value).rpartition("=")
        if not name or not equals:
            self.fail(f"{value!r} is not NAME=NUMBER.", param, ctx)
        return name, Positive().convert(number, param, ctx)


@click.command("import")
@click.argument("file")
@option(
    "--source",
    "uri",
    metavar="FILE",
    required=True,
    envvar="PENSTOCK_DATASET_IMPORT_SOURCE",
    help="The CSV or Parquet file.",
)
@option("--name", help="Name of the dataset [default: that of the table, or of FILE].")
@option("--table", metavar="SCHEMA.TABLE", help="Table to import, if FILE describes several.")
@option(
    "--budget",
    "budgets",
    envvar="PENSTOCK_DATASET_IMPORT_BUDGET",
    metavar="TIER=EPSILON",
    type=Assigned(),
    multiple=True,
    required=True,
    help="Budget of a tier; may be repeated.",
)
@option(
    "--delta",
    type=Positive(or_zero=True),
    default=1e-6,
    show_default=True,
    help="Delta of all budgets.",
)
@option(
    "--step",
    "steps",
    envvar="PENSTOCK_DATASET_IMPORT_STEP",
    metavar="COLUMN=STEP",
    type=Assigned(),
    multiple=True,
    help="Step that a column's values are rounded to; may be repeated.",
)
@option(
    "--neighboring",
    type=click.Choice(["add_remove", "replace"]),
    default="add_remove",
    show_default=True,
    help="How neighboring datasets differ.",
)
@option(
    "--print",
    "only_print",
    is_flag=True,
    envvar="PENSTOCK_DATASET_IMPORT_PRINT",
    help="Print the spec and register nothing.",
)
@format_option
@click.pass_obj
def import_metadata(
    operator: Operator,
    file: str,
    uri: str,
    name: str | None,
    table: str | None,
    budgets: tuple[tuple[str, float], ...],
    delta: float,
    steps: tuple[tuple[str, float], ...],
    neighboring: str,
    only_print: bool,
) -> None:
    """Register the dataset that a metadata FILE describes.

    FILE is YAML metadata of SmartNoise SQL or lomas.  Settings without a counterpart are listed on
    standard error.  FILE may be -, standard input.
    """
    from penstock.connectors.specs.metadata import read_metadata
    from penstock.services.datasets import datasets

    imported = read_metadata(_document(operator, file), table)
    columns = imported.fields["columns"]
    for column, step in steps:
        if column not in columns:
            raise InvalidInput(f"--step names a column that FILE does not have: {column!r}.")
        columns[column]["step"] = step
    spec = {
        "name": name or imported.table or Path(file).stem,
        "source": {"engine": "duckdb", "uri": uri},
        "neighboring": neighboring,
        "delta": delta,
        "budgets": {tier: {"epsilon": epsilon} for tier, epsilon in budgets},
        **imported.fields,
    }
    for note in imported.notes:
        if not note.startswith(tuple(f"Column {column!r} has no step" for column, _ in steps)):
            operator.say(note)
    request = _request(spec)
    if only_print:
        click.echo(json.dumps(spec, indent=2, ensure_ascii=False))
        return
    operator.progress("Computing the fingerprint of the source")
    operator.print(shown(datasets.register(operator.server, operator.principal, request)))


def _request(spec: dict[str, Any]) -> "DatasetRequest":
    from penstock.connectors.specs.schema import check_schema
    from penstock.services.schemas.queries import DatasetRequest

    request: DatasetRequest = checked(DatasetRequest, spec)
    check_schema(request)
    return request


def _document(operator: Operator, file: str) -> object:
    import yaml

    shown = "standard input" if file == STANDARD_INPUT else file
    raw = bytes_of(file, operator.settings.body_limit)
    if len(raw) > operator.settings.body_limit:
        raise InvalidInput(
            f"{shown} is longer than {operator.settings.body_limit} bytes, the limit for metadata;"
            " PENSTOCK_BODY_LIMIT sets this limit."
        )
    try:
        if yaml_depth(raw) > DEEPEST:
            raise MalformedInput(
                f"{shown} is nested too deep, more than {DEEPEST} levels; check that it is the"
                " right file."
            )
        return yaml.safe_load(raw)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise MalformedInput(f"{shown} is not YAML{place}.") from None
    except (yaml.YAMLError, ValueError):
        raise MalformedInput(f"{shown} is not YAML in UTF-8.") from None
