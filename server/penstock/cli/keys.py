"""``penstock keys``: the provider's keys, and new ones in their place."""

import time
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

if TYPE_CHECKING:
    from penstock.services.keys import KeysView

LONGEST_REQUEST = 60
"""Seconds after which gunicorn ends a worker that does not answer."""


@click.group()
def keys() -> None:
    """The keys that wrap all others."""


@keys.command("status")
@format_option
@click.pass_obj
def show_keys(operator: Operator) -> None:
    """Show which key keeps which dataset.  Names only: a key never shows itself."""
    from penstock.services import keys as services

    operator.print(_document(services.show(operator.server, operator.principal)))


@keys.command()
@option(
    "--wait",
    type=click.FloatRange(min=0),
    default=LONGEST_REQUEST,
    show_default=True,
    help="Seconds until the old keys are forgotten: longer than any request takes.",
)
@format_option
@click.pass_obj
def rotate(operator: Operator, wait: float) -> None:
    """Put a new key in the place of each, while the server runs.

    No request fails meanwhile.  Run again after an interruption, it goes on.
    """
    from penstock.services import keys as services

    def pause() -> None:
        operator.say(f"All is wrapped anew; in {wait:g} seconds the old keys are forgotten.")
        time.sleep(wait)

    operator.print(_document(services.rotate(operator.server, operator.principal, pause)))


def _document(found: "KeysView") -> Document:
    columns = (Column("dataset"), Column("version", right=True), Column("key"))
    rows = [(one.dataset, one.version, one.key or "shredded") for one in found.used]
    note = f"Provider {found.provider}, {found.keys} key{'' if found.keys == 1 else 's'}."
    return Document(found, columns, rows, note=note)
