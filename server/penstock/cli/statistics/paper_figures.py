"""Run the command ``figures``, which needs no home: it draws the papers' figures anew."""

from pathlib import Path

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document


@click.command()
@click.argument("name", required=False)
@option("--table", is_flag=True, help="Print the table, in Markdown, not the drawing.")
@option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write [default: standard output].",
)
@format_option
@click.pass_obj
def figures(operator: Operator, name: str | None, table: bool, output: Path | None) -> None:
    """Draw a figure of the papers anew, as SVG or as a table.  Without NAME, list the figures.

    Everything is computed here: figure2 and corrections in about 50 seconds of a processor each,
    longer where it has other work, and the others in a few; figure2 in 30 seconds if
    OPENBLAS_NUM_THREADS is 1.  The format is that of the list.
    """
    if name is None:
        operator.print(_listed())
        return
    from penstock.experiments.catalog import experiment

    chosen = experiment(name)
    operator.progress(f"Computing {name}")
    drawn = chosen.draw()
    text = f"{drawn.tables}\n" if table or drawn.svg is None else drawn.svg
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    operator.say(f"Written to {output}.")


def _listed() -> Document:
    from penstock.experiments.catalog import EXPERIMENTS

    columns = (Column("name"), Column("shows"), Column("paper"))
    rows = [(name, each.shows, each.paper) for name, each in EXPERIMENTS.items()]
    answer = [
        {column.name: cell for column, cell in zip(columns, row, strict=True)} for row in rows
    ]
    return Document(answer, columns, rows)
