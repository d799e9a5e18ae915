"""Run the ``penstock-client`` program.

Data go to standard output, messages to standard error.  Exit codes: 0 done, 1 failure,
2 usage, 3 refused by policy or budget, 4 not reachable, 5 the log forked.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from penstock_client._commands.audit_command import audit
from penstock_client._commands.completion import completion
from penstock_client._commands.release_commands import release, synthetic
from penstock_client._commands.settings import Settings, format_option
from penstock_client._http.pushing import elements_in
from penstock_client._show import documents, row_documents, stream_documents
from penstock_client._show.output import Format
from penstock_client.client import TIMEOUT
from penstock_client.errors import (
    BudgetExhausted,
    Forbidden,
    InvalidArgument,
    LogForked,
    NotReachable,
    PenstockError,
)
from penstock_client.figures import printable
from penstock_client.preview import spec_in
from penstock_client.questions import documents as question_documents
from penstock_client.questions.request_command import request
from penstock_client.questions.sql_command import sql

NUMBER = click.IntRange(min=1)
DONE, FAILURE, USAGE, REFUSED, NOT_REACHABLE, FORKED = range(6)


@click.group(
    context_settings={"auto_envvar_prefix": "PENSTOCK"},
    epilog="Exit codes: 0 done, 1 failure, 2 usage, 3 refused by policy or budget,"
    " 4 not reachable, 5 the log forked.",
)
@click.option("--url", show_envvar=True, help="URL of the server [default: http://127.0.0.1:8080].")
@click.option(
    "--token",
    show_envvar=True,
    help="Your token. The variable is safer: others on this machine can read command lines.",
)
@click.option(
    "--format",
    "form",
    envvar="PENSTOCK_FORMAT",
    show_envvar=True,
    type=click.Choice([form.value for form in Format]),
    default=Format.TABLE.value,
    show_default=True,
    help="Format of the output.",
)
@click.option(
    "--timeout",
    show_envvar=True,
    type=click.FloatRange(min=0, min_open=True),
    default=TIMEOUT,
    show_default=True,
    help="Seconds to wait for the server.",
)
@click.option(
    "--insecure",
    is_flag=True,
    show_envvar=True,
    help="Send the token over plain http to another machine; others on the network may read it.",
)
@click.version_option(package_name="penstock-client", message="%(prog)s %(version)s")
@click.pass_context
def commands(
    context: click.Context,
    url: str | None,
    token: str | None,
    form: str,
    timeout: float,
    insecure: bool,
) -> None:
    """Query a Penstock server for statistics protected by differential privacy."""
    context.obj = Settings(url, token, Format(form), timeout, insecure)


@commands.command()
@format_option
@click.pass_obj
def datasets(settings: Settings) -> None:
    """List the datasets and their budgets by tier."""
    with settings.connect() as client:
        settings.print(documents.datasets(client.datasets()))


@commands.command()
@click.argument("dataset")
@click.option(
    "--rows", show_envvar=True, type=NUMBER, default=100, show_default=True, help="Number of rows."
)
@click.option(
    "--seed",
    show_envvar=True,
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The same seed makes the same rows.",
)
@format_option
@click.pass_obj
def dummy(settings: Settings, dataset: str, rows: int, seed: int) -> None:
    """Make up rows of a DATASET's declared columns, to try code on.

    The rows follow from the declaration only; the data are not read.
    """
    with settings.connect() as client:
        settings.print(row_documents.dummy(client.dummy(dataset, rows=rows, seed=seed)))


@commands.command()
@click.option("--dataset", show_envvar=True, help="List only queries of this dataset.")
@format_option
@click.pass_obj
def queries(settings: Settings, dataset: str | None) -> None:
    """List the queries that you may see, with errors by tier."""
    with settings.connect() as client:
        settings.print(documents.queries(client.queries(dataset)))


@commands.command()
@click.argument("query", required=False)
@click.option(
    "--file", show_envvar=True, help="File with a spec, in JSON or TOML; - is standard input."
)
@format_option
@click.pass_obj
def preview(settings: Settings, query: str | None, file: str | None) -> None:
    """Show what a QUERY, or the spec in a file, would cost.

    It is shown for each tier that you may see. Nothing is changed, no budget is spent, and the
    data are not read.
    """
    if (query is None) == (file is None):
        raise click.UsageError(
            "Name a registered QUERY, or the file of a spec with --file, not both."
        )
    if query is not None and Path(query).is_file():
        raise click.UsageError(
            f"{query} is a file, but QUERY is the name of a registered query; use --file {query}."
        )
    spec = query if file is None else spec_in(file, sys.stdin)
    with settings.connect() as client:
        settings.print(documents.preview(client.preview(spec or {})))


@commands.group()
def stream() -> None:
    """Read, push to and preview streams of data over time."""


@stream.command("list")
@click.option("--dataset", show_envvar=True, help="List only streams of this dataset.")
@format_option
@click.pass_obj
def list_streams(settings: Settings, dataset: str | None) -> None:
    """List the streams that you may see, with errors by tier."""
    with settings.connect() as client:
        settings.print(stream_documents.streams(client.streams(dataset)))


@stream.command("read")
@click.argument("name")
@click.option(
    "--from",
    "first",
    show_envvar=True,
    type=NUMBER,
    help="First step [default: the first that your level has].",
)
@click.option(
    "--to", "last", show_envvar=True, type=NUMBER, help="Last step [default: the newest]."
)
@click.option("--tier", show_envvar=True, help="Level of this tier, at most your own.")
@format_option
@click.pass_obj
def read_stream(
    settings: Settings, name: str, first: int | None, last: int | None, tier: str | None
) -> None:
    """Read running totals of the stream NAME, all or a range of steps."""
    with settings.connect() as client:
        totals = client.stream(name, first=first, last=last, tier=tier)
        settings.print(stream_documents.totals(totals))


@stream.command("push")
@click.argument("name")
@click.argument("file")
@click.option(
    "--from",
    "first",
    show_envvar=True,
    type=NUMBER,
    help="Number of the first element [default: that in FILE, else the stream's next].",
)
@format_option
@click.pass_obj
def push_elements(settings: Settings, name: str, file: str, first: int | None) -> None:
    """Push the elements in FILE to the stream NAME (administrators).

    FILE contains {"from": NUMBER, "values": [...]}, as JSON or TOML; - is standard input.
    Elements that the stream has already are skipped, so an interrupted push can be repeated
    unchanged.
    """
    values, begin = elements_in(file, sys.stdin)
    with settings.connect() as client:
        pushed = client.push(name, values, first=begin if first is None else first)
        settings.print(stream_documents.pushed(pushed))


@stream.command("preview")
@click.argument("file")
@format_option
@click.pass_obj
def preview_stream(settings: Settings, file: str) -> None:
    """Show what the stream in FILE would cost, and compare structures.

    FILE is a spec as administrators open streams with, in JSON or TOML; - is standard input.
    Nothing is changed and no budget is spent.
    """
    with settings.connect() as client:
        answer = client.preview_stream(spec_in(file, sys.stdin))
        settings.print(stream_documents.preview(answer))


@commands.command()
@click.option("--query", show_envvar=True, help="List only releases of this query.")
@click.option("--user", show_envvar=True, help="List only releases to this user (auditors).")
@format_option
@click.pass_obj
def history(settings: Settings, query: str | None, user: str | None) -> None:
    """List what was released to you; for auditors, to everybody."""
    with settings.connect() as client:
        settings.print(documents.history(client.history(query, user=user)))


@commands.command()
@click.argument("dataset")
@format_option
@click.pass_obj
def budget(settings: Settings, dataset: str) -> None:
    """Show the granted, spent and remaining budget of a DATASET."""
    with settings.connect() as client:
        settings.print(documents.budget(client.budget(dataset)))


@commands.command()
@click.argument("dataset")
@format_option
@click.pass_obj
def allowances(settings: Settings, dataset: str) -> None:
    """Show what analysts may register by themselves in a DATASET, and what is left of it."""
    with settings.connect() as client:
        settings.print(question_documents.allowances(client.allowances(dataset)))


@commands.command()
@click.option("--users", show_envvar=True, required=True, help="Names, separated by commas.")
@click.option("--dataset", show_envvar=True, help="Count only this dataset [default: all].")
@format_option
@click.pass_obj
def exposure(settings: Settings, users: str, dataset: str | None) -> None:
    """Show what some users could learn together."""
    with settings.connect() as client:
        names = [name.strip() for name in users.split(",") if name.strip()]
        settings.print(documents.exposure(client.exposure(names, dataset)))


@commands.command()
@format_option
@click.pass_obj
def verify(settings: Settings) -> None:
    """Verify that the server's log continues the last checkpoint.

    The newest checkpoint is shown, and kept in the file PENSTOCK_CHECKPOINTS. Every release and
    every read of a stream verifies the log as well.
    """
    with settings.connect() as client:
        settings.print(documents.checkpoint(client.verify()))


for each in (audit, completion, release, request, sql, synthetic):
    commands.add_command(each)


def run(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code; raise nothing."""
    try:
        code = commands.main(list(arguments), "penstock-client", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Aborted.", err=True)
        return FAILURE
    except BrokenPipeError:
        # The reader has closed the pipe.  Flushing the rest of the buffer at exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except PenstockError as error:
        _complain(str(error))
        return _code(error)
    except Exception as error:  # noqa: BLE001 # the edge: a bug is one line, not a traceback
        _complain(f"{type(error).__name__}: {error}. This is a bug; please report it.")
        return FAILURE


def main() -> NoReturn:
    """Run the program as the entry point."""
    sys.exit(run(sys.argv[1:]))


def _code(error: PenstockError) -> int:
    if isinstance(error, InvalidArgument):
        return USAGE
    if isinstance(error, Forbidden | BudgetExhausted):
        return REFUSED
    if isinstance(error, LogForked):
        return FORKED
    return NOT_REACHABLE if isinstance(error, NotReachable) else FAILURE


def _complain(message: str) -> None:
    for line in message.splitlines():
        click.echo(printable(line), err=True)


if __name__ == "__main__":
    main()
