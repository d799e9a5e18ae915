"""Take a query in SQL from options, in place of a file or beside it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from penstock.cli.operator import Operator
from penstock.cli.options import Positive, TierBudget, option
from penstock.cli.specs import STANDARD_INPUT, bytes_of, content_of
from penstock.errors import InvalidInput, MalformedInput

_USUAL = "gaussian"
_OPTIONS = (
    option("--sql", help="A statement of SQL, a file that holds one, or - for standard input."),
    option("--name", help="With --sql: the query's name."),
    option("--mechanism", help=f"With --sql: the mechanism; {_USUAL} if none is named."),
    option("--share", type=Positive(), help="With --sql: the share of every tier's budget."),
    option(
        "--level",
        type=TierBudget(),
        multiple=True,
        metavar="TIER=EPSILON",
        help="With --sql: the epsilon of a tier, in place of --share; for each tier.",
    ),
    option("--max-groups", type=int, help="With --sql: the groups in which a unit may count."),
    option(
        "--max-rows-per-group",
        type=int,
        help="With --sql: the rows of a unit that may count in each.",
    ),
)

_PLACES = {
    "/contribution/max_groups": "--max-groups",
    "/contribution/max_rows_per_group": "--max-rows-per-group",
    "/levels": "--level",
    "/share": "--share",
    "/mechanism": "--mechanism",
    "/name": "--name",
}
"""The option that sets a place of a query."""


def sql_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a query in SQL to a command."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


@contextmanager
def in_options(terms: Mapping[str, Any]) -> Iterator[None]:
    """Name the options of a query with ``--sql``, and not its fields, in what is not valid."""
    try:
        yield
    except InvalidInput as error:
        if terms["sql"] is None:
            raise
        error.errors = tuple((_option(place), detail) for place, detail in error.errors)
        raise


def _option(pointer: str) -> str:
    """Return the option that sets a place of a query, or the place if none does."""
    return next(
        (option for place, option in _PLACES.items() if f"{pointer}/".startswith(f"{place}/")),
        pointer,
    )


def query_content(operator: Operator, file: str | None, terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the query in ``file`` with what the options say.

    Raises ``click.UsageError`` for neither a file nor ``--sql``, for a query without a name, and as
    ``content_of`` does.
    """
    limit = operator.settings.query_body_limit
    if terms["sql"] is None:
        others = [name for name, value in terms.items() if value not in (None, ())]
        if others:
            raise click.UsageError(f"--{others[0].replace('_', '-')} is for a query with --sql.")
        if file is None:
            raise click.UsageError("Name a FILE, or write the query with --sql.")
        return content_of(file, limit)
    content = {} if file is None else content_of(file, limit)
    content |= {name: terms[name] for name in ("name", "mechanism", "share") if terms[name]}
    if terms["level"]:
        content["levels"] = dict(terms["level"])
    bounds = ("max_groups", "max_rows_per_group")
    given = {name: terms[name] for name in bounds if terms[name] is not None}
    if given:
        content["contribution"] = given
    if "name" not in content:
        raise click.UsageError("Name the query with --name.")
    return {"mechanism": _USUAL, **content, "sql": _statement(terms["sql"], limit)}


def _statement(text: str, limit: int) -> str:
    """Return the statement itself, or that of the file which is named."""
    if text != STANDARD_INPUT and (len(text.split()) > 1 or not Path(text).exists()):
        return text
    try:
        return bytes_of(text, limit)[:limit].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedInput(f"The statement is not UTF-8 text (byte {error.start}).") from None
