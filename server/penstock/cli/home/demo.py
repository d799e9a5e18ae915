"""Run ``penstock demo``: show Penstock on real data, then serve it to try out."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.home.serving import require_free, start
from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document, Format

if TYPE_CHECKING:
    from penstock.demo.story import Story


@click.command()
@option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("penstock-demo"),
    show_default=True,
    help="Folder to create, or that of an earlier demo.",
)
@option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8080,
    show_default=True,
    help="Port on 127.0.0.1.",
)
@option("--no-serve", is_flag=True, help="Print the story and exit.")
@format_option
@click.pass_obj
def demo(operator: Operator, home: Path, port: int, no_serve: bool) -> None:
    """Show Penstock on real data, and serve the result to try out.

    It shows what each reader gets and what all learn together.  Creates a separate home with tiers,
    people, a dataset and queries, releases one statistic at every tier, and serves it on 127.0.0.1.
    """
    from penstock.demo import pages, stage, story, tour

    if not no_serve:
        require_free("127.0.0.1", port)
    settings = stage.settings(home, port)
    tale = story.tell(settings, operator.progress)
    if operator.form is Format.TABLE:
        click.echo(pages.story(tale, home), nl=False)
        click.echo(tour.what_to_try(tale, home, settings, served=not no_serve), nl=False)
    else:
        operator.print(_document(tale))
    if not no_serve:
        operator.say(f"Serving {settings.public_url} until Ctrl-C.")
        start(settings, stage.environment(settings, os.environ))


def _document(story: "Story") -> Document:
    """Return the story, with one row for each reader."""
    columns = (
        *(Column("reader"), Column("tier"), Column("query")),
        *(Column("epsilon"), Column("delta"), Column("value")),
        *(Column("lower"), Column("upper"), Column("token")),
    )
    rows = [
        (
            *(seen.reader, seen.release.tier, seen.release.query),
            *(seen.release.guarantee.epsilon, seen.release.guarantee.delta, seen.value),
            *(seen.lower, seen.upper, story.tokens[seen.reader]),
        )
        for seen in story.seen
    ]
    return Document(story, columns, rows)
