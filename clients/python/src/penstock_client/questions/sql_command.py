"""Run ``penstock-client sql``: ask a question in SQL."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import click

from penstock_client._commands.settings import Settings, format_option
from penstock_client.errors import Forbidden, InvalidArgument, InvalidInput
from penstock_client.preview import STANDARD_INPUT
from penstock_client.questions import documents
from penstock_client.questions.question import ADVICE
from penstock_client.questions.terms import NoClearance, NoLevel

POSITIVE = click.IntRange(min=1)

_PLACES = {
    "/contribution/max_groups": "--max-groups",
    "/contribution/max_rows_per_group": "--max-rows-per-group",
    "/levels": "--level",
    "/share": "--share",
    "/mechanism": "--mechanism",
    "/name": "--name",
    "/purpose": "--purpose",
}
"""The option that sets a place of a request."""


@click.command()
@click.argument("query")
@click.option("--preview", is_flag=True, show_envvar=True, help="Show the cost; change nothing.")
@click.option(
    "--register", is_flag=True, show_envvar=True, help="Register it, and release nothing."
)
@click.option("--request", is_flag=True, show_envvar=True, help="Send it to the administrators.")
@click.option("--purpose", show_envvar=True, help="What a request is for.")
@click.option("--name", show_envvar=True, help="Name of the query [default: one of its own].")
@click.option("--epsilon", show_envvar=True, type=float, help="Level at your clearance.")
@click.option("--share", show_envvar=True, type=float, help="Share of each tier's budget.")
@click.option(
    "--level",
    show_envvar=True,
    multiple=True,
    metavar="TIER=EPSILON",
    help="Level of a tier; may be repeated.",
)
@click.option("--mechanism", show_envvar=True, default="gaussian", show_default=True, help="Noise.")
@click.option(
    "--max-groups", show_envvar=True, type=POSITIVE, help="Most groups of one privacy unit."
)
@click.option(
    "--max-rows-per-group",
    show_envvar=True,
    type=POSITIVE,
    help="Most rows of one privacy unit in a group.",
)
@format_option
@click.pass_obj
def sql(
    settings: Settings,
    query: str,
    preview: bool,
    register: bool,
    request: bool,
    purpose: str | None,
    name: str | None,
    epsilon: float | None,
    share: float | None,
    level: Sequence[str],
    mechanism: str,
    max_groups: int | None,
    max_rows_per_group: int | None,
) -> None:
    """Answer QUERY, a SELECT of statistics from a dataset; - reads it from standard input.

    It is registered, which is charged, unless the same statistic is registered already; then it is
    released. Registering is for administrators, and for analysts with an allowance; others send a
    --request with its --purpose. Give one of --epsilon, --share and --level.
    """
    if preview + register + request > 1:
        raise click.UsageError("Give one of --preview, --register and --request, not several.")
    if request != (purpose is not None):
        raise click.UsageError("--request and --purpose go together.")
    if purpose is not None and not purpose.strip():
        raise click.UsageError("--purpose says what the request is for; it is empty.")
    limits = {"max_groups": max_groups, "max_rows_per_group": max_rows_per_group}
    with settings.connect() as client, _in_options():
        question = client.sql(
            sys.stdin.read() if query == STANDARD_INPUT else query,
            name=name,
            epsilon=epsilon,
            share=share,
            levels=dict(map(_level, level)) or None,
            mechanism=mechanism,
            contribution={limit: most for limit, most in limits.items() if most is not None},
        )
        if preview:
            settings.print(documents.cost(question.preview()))
        elif register:
            settings.print(documents.registered(question.register()))
        elif purpose is not None:
            settings.print(documents.request(question.request(purpose)))
        else:
            settings.print(documents.result(question.result()))


@contextmanager
def _in_options() -> Iterator[None]:
    """Name the options, and not fields of a request or arguments in Python, in errors."""
    try:
        yield
    except NoLevel as error:
        raise InvalidArgument(
            "The question has no level yet: give --epsilon (at your clearance), --share (of each"
            " tier's budget) or --level (of a tier)."
        ) from error
    except NoClearance as error:
        raise InvalidArgument(
            "--epsilon is the level at your clearance, and you have none; give --level"
            " TIER=EPSILON, or --share."
        ) from error
    except Forbidden as error:
        advice = "You may send it to the administrators: --request --purpose TEXT."
        raise type(error)(
            *(error.status, error.code, error.title, error.detail.replace(ADVICE, advice)),
            *(error.errors, error.request_id, error.data, error.retry_after),
        ) from error
    except InvalidInput as error:
        fields = (replace(each, pointer=_option(each.pointer)) for each in error.errors)
        raise InvalidInput(
            *(error.status, error.code, error.title, error.detail, tuple(fields)),
            *(error.request_id, error.data, error.retry_after),
        ) from error


def _option(pointer: str) -> str:
    """Return the option that sets a place of a request, or the place if none does."""
    return next(
        (option for place, option in _PLACES.items() if f"{pointer}/".startswith(f"{place}/")),
        pointer,
    )


def _level(text: str) -> tuple[str, float]:
    """Return the tier and the epsilon of ``TIER=EPSILON``."""
    tier, _, epsilon = text.rpartition("=")
    try:
        number = float(epsilon)
    except ValueError:
        number = 0.0
    if not tier.strip() or not number > 0:
        raise click.UsageError(f"--level is TIER=EPSILON, for example partner=0.5, not {text}.")
    return tier.strip(), number
