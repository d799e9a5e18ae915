"""``penstock dataset import``: metadata of SmartNoise SQL or lomas, as a dataset of ours."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.data.documents import shown
from penstock.cli.operator import Operator
from penstock.cli.options import Positive, format_option, option
from penstock.cli.specs import STANDARD_INPUT, bytes_of, checked
from penstock.errors import InvalidInput, MalformedInput
from penstock.nesting import DEEPEST

if TYPE_CHECKING:
    from penstock.services.schemas.queries import DatasetRequest


class Assigned(click.ParamType[tuple[str, float]]):
    """A name and a number above zero, as NAME=NUMBER."""

    name = "NAME=NUMBER"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        name, equals, number = str(value).rpartition("=")
        if not name or not equals:
            self.fail(f"{value!r} is not like NAME=NUMBER.", param, ctx)
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
@option("--name", help="What the dataset is called [default: the table, or FILE].")
@option("--table", metavar="SCHEMA.TABLE", help="Which table, where FILE describes several.")
@option(
    "--budget",
    "budgets",
    envvar="PENSTOCK_DATASET_IMPORT_BUDGET",
    metavar="TIER=EPSILON",
    type=Assigned(),
    multiple=True,
    required=True,
    help="What a tier may spend; once for each.",
)
@option(
    "--delta",
    type=Positive(or_zero=True),
    default=1e-6,
    show_default=True,
    help="The delta of all.",
)
@option(
    "--step",
    "steps",
    envvar="PENSTOCK_DATASET_IMPORT_STEP",
    metavar="COLUMN=STEP",
    type=Assigned(),
    multiple=True,
    help="To which multiple a column's values are rounded; once for each.",
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
    help="Print the spec, and register nothing.",
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
    """Register the dataset that FILE, a YAML of SmartNoise SQL or lomas, describes.

    What has no counterpart here is said on standard error.  FILE may be -, standard input.
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
    operator.progress("Taking the fingerprint of the source")
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
            f"{shown} is longer than {operator.settings.body_limit} bytes, the most that metadata"
            " may have; PENSTOCK_BODY_LIMIT sets this."
        )
    try:
        if _height(raw) > DEEPEST:
            raise MalformedInput(
                f"{shown} is nested more than {DEEPEST} deep, which no metadata is; look whether it"
                " is the file that you mean."
            )
        return yaml.safe_load(raw)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise MalformedInput(f"{shown} is not YAML{place}.") from None
    except (yaml.YAMLError, ValueError):
        raise MalformedInput(f"{shown} is not YAML in UTF-8.") from None


def _height(raw: bytes) -> int:
    """How deep YAML nests, with all that its aliases stand for; counted no further than needed.

    Raises as ``yaml`` does.  An alias of what it stands in counts nothing: reading makes of it
    a value that holds itself, without a call for each turn.
    """
    import yaml

    anchors: dict[str, int] = {}
    around: list[tuple[str | None, int]] = [(None, 0)]  # the anchor, and the height so far
    for event in yaml.parse(raw, Loader=yaml.SafeLoader):
        height = 0
        if isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, 0))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, inner = around.pop()
            height = inner + 1
            if anchor is not None:
                anchors[anchor] = height
        elif isinstance(event, yaml.AliasEvent):
            height = anchors.get(event.anchor or "", 0)
        around[-1] = around[-1][0], max(around[-1][1], height)
        if len(around) + height > DEEPEST + 1:
            return len(around) + height - 1
    return around[0][1]
