"""Run ``penstock webhook``: see which messages the webhook has, and send those again it has not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document

if TYPE_CHECKING:
    from penstock.services.webhook.outbox import DeliveryState, DeliveryView

STATES = click.Choice(["waiting", "delivered", "given_up"])


@click.group()
def webhook() -> None:
    """List messages of requests, decisions and events of the log, and send them again."""


@webhook.command("list")
@option("--state", type=STATES, help="List only messages in this state.")
@format_option
@click.pass_obj
def listing(operator: Operator, state: "DeliveryState | None") -> None:
    """List the messages of the last 30 days, and what the receiver answered."""
    from penstock.services.webhook import outbox

    shown = outbox.listing(operator.server, operator.principal, state)
    if shown:
        note = ""
    elif operator.settings.webhook_url:
        note = "There are no messages."
    else:
        note = "No webhook is set: PENSTOCK_WEBHOOK_URL and PENSTOCK_WEBHOOK_SECRET set one."
    operator.print(_document(shown, note))


@webhook.command()
@format_option
@click.pass_obj
def retry(operator: Operator) -> None:
    """Let the server send again the messages that it gave up."""
    from penstock.services.webhook import outbox

    again = outbox.retry(operator.server, operator.principal)
    operator.print(_document(again, "" if again else "No message was given up."))


def _document(views: "Sequence[DeliveryView]", note: str) -> Document:
    columns = (
        *(Column("id"), Column("event"), Column("request"), Column("leaf", right=True)),
        *(Column("state"), Column("attempts", right=True), Column("answer"), Column("at")),
        *(Column("next_at"), Column("finished_at")),
    )
    rows = [
        (
            *(view.id, view.event, view.request, view.leaf, view.state.replace("_", " ")),
            *(view.attempts, view.answer, view.at, view.next_at, view.finished_at),
        )
        for view in views
    ]
    return Document(views, columns, rows, note=note)
