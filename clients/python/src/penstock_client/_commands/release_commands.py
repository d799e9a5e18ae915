"""Run ``penstock-client release`` and ``synthetic``: values of a query, and rows made from them."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import click

from penstock_client._commands.settings import Settings, format_option
from penstock_client._show import documents, row_documents
from penstock_client._show.output import Format

BINARY = ("arrow", "parquet")
FORMS = (*(form.value for form in Format), *BINARY)


@click.command()
@click.argument("query")
@click.option("--tier", show_envvar=True, help="Level of this tier, at most your own.")
@click.option("--epsilon", show_envvar=True, type=float, help="Level with this epsilon.")
@click.option("--rho", show_envvar=True, type=float, help="Level with this rho.")
@click.option("--level", show_envvar=True, type=float, help="Level in the mechanism's parameter.")
@click.option("--probability", show_envvar=True, type=float, multiple=True, help="Quantile shown.")
@click.option(
    "--report",
    show_envvar=True,
    metavar="FORMS",
    help="Forms of marginals beside raw values, with commas between: nonnegative, whole,"
    " total_preserving.",
)
@click.option(
    "--size",
    show_envvar=True,
    metavar="RELEASE",
    help="Release of yours that has the size of counts with a known_size, to read them with.",
)
@click.option(
    "--texts",
    show_envvar=True,
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Texts, one a line, for tables and CSV: those whose hash is a key stand in its place.",
)
@format_option
@click.pass_obj
def release(
    settings: Settings,
    query: str,
    tier: str | None,
    epsilon: float | None,
    rho: float | None,
    level: float | None,
    probability: Sequence[float],
    report: str | None,
    size: str | None,
    texts: TextIO | None,
) -> None:
    """Release a QUERY at your clearance, or at a more private level.

    Give at most one of --tier, --epsilon, --rho and --level. The same request again returns the
    same values and costs nothing. Quantiles, reports and counts with the size of another release
    are read from it, also for nothing.
    """
    with settings.connect() as client:
        answer = client.release(query, tier=tier, epsilon=epsilon, rho=rho, level=level)
        if report is not None and not answer.marginals:
            click.echo(f"{answer.query!r} has no marginals; --report changes nothing.", err=True)
        if probability or report is not None or size is not None:
            answer = client.values(answer, probabilities=probability, report=report, size=size)
        if texts is not None:
            answer = answer.with_texts(line.rstrip("\r\n") for line in texts)
        settings.print(documents.release(answer))


@click.command()
@click.argument("release")
@click.option(
    "--rows",
    show_envvar=True,
    type=click.IntRange(min=1),
    help="Number of rows [default: as many as the release says there are].",
)
@click.option(
    "--format",
    "form",
    envvar="PENSTOCK_FORMAT",
    show_envvar=True,
    type=click.Choice(FORMS),
    help="Format of the rows [default: the ending of FILE, or else that of other commands].",
)
@click.option(
    "--output",
    show_envvar=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File for the rows [default: standard output].",
)
@click.pass_context
def synthetic(
    context: click.Context, release: str, rows: int | None, form: str | None, output: Path | None
) -> None:
    """Make up rows with the counts of a RELEASE, by its identifier.

    The release must be a table of counts, or marginals, and be yours. No row is anybody's: they
    have the released counts, with their noise, and cost no budget. All who have the release get
    the same rows. Drawing them takes seconds.
    """
    settings: Settings = context.obj
    ending = "" if output is None else output.suffix[1:]
    typed = context.get_parameter_source("form") is click.core.ParameterSource.COMMANDLINE
    if form is None or not typed:
        form = ending if ending in FORMS else settings.form.value
    if form in BINARY and output is None and sys.stdout.isatty():
        raise click.UsageError(f"{form} is not for terminals; give a file with --output.")
    with settings.connect() as client:
        if form in (Format.CSV, *BINARY):
            body = client.synthetic_file(release, form, rows)
        else:
            document = row_documents.synthetic(client.synthetic(release, rows))
            body = settings.shown(document, Format(form)).encode()
    if output is None:
        click.echo(body, nl=False)
    else:
        output.write_bytes(body)
